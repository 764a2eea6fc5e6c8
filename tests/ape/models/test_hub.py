"""Models of the Hugging Face hub: the real client against a fake hub on a loopback port."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ape.errors import InputError, ModelError
from ape.models import CatalogueModel, HubSource, find_model, pull_model, resolve_model
from ape.models.hub import pick_file
from tests.ape.models.conftest import CONTENT, Starter, serve

pytestmark = pytest.mark.subprocess

needs_the_extra = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None, reason='the extra "hub" is not installed'
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """The part of the hub that a download needs: a repository's list of files, and the files."""

    files: dict[str, bytes]
    stated: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(f"{request.command} {request.path}")
        path = request.path.partition("?")[0]
        if path == "/api/models/someone/Tiny-GGUF/revision/main":
            listing = {"id": "someone/Tiny-GGUF", "sha": COMMIT, "siblings": [self._entry(name) for name in self.files]}
            self._send(request, json.dumps(listing).encode(), {"Content-Type": "application/json"})
        elif path.startswith("/someone/Tiny-GGUF/resolve/main/"):
            name = path.removeprefix("/someone/Tiny-GGUF/resolve/main/")
            body = self.files[name]
            self._send(request, body, {"X-Repo-Commit": COMMIT, "ETag": f'"{self._sha256(name)}"'})
        elif path.startswith("/api/models/someone/Gated"):
            request.send_response(403)
            request.send_header("X-Error-Code", "GatedRepo")
            request.send_header("Content-Length", "0")
            request.end_headers()
        else:
            request.send_response(404)
            request.send_header("X-Error-Code", "RevisionNotFound" if "Tiny-GGUF" in path else "RepoNotFound")
            request.send_header("Content-Length", "0")
            request.end_headers()

    def _entry(self, name: str) -> dict[str, object]:
        size = len(self.files[name])
        return {"rfilename": name, "size": size, "lfs": {"size": size, "sha256": self._sha256(name), "pointerSize": 1}}

    def _sha256(self, name: str) -> str:
        return self.stated.get(name, hashlib.sha256(self.files[name]).hexdigest())

    def _send(self, request: BaseHTTPRequestHandler, body: bytes, headers: dict[str, str]) -> None:
        request.send_response(200)
        for header, value in {**headers, "Content-Length": str(len(body))}.items():
            request.send_header(header, value)
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(body)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub with two quantisations of a model, set in the environment of the processes."""
    hub = Hub({"README.md": b"Tiny", "tiny-Q4_K_M.gguf": CONTENT, "tiny-Q8_0.gguf": CONTENT + CONTENT})
    server = serve(hub.serve)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    yield hub
    server.shutdown()
    server.server_close()


@needs_the_extra
def test_a_repository_gives_its_q4_k_m(hub: Hub, start: Starter, tmp_path: Path) -> None:
    process = start(cache=tmp_path / "cache", resolve="someone/Tiny-GGUF")
    *steps, path = process.communicate()[0].splitlines()
    assert path == str(tmp_path / "cache" / "someone--Tiny-GGUF--main" / "tiny-Q4_K_M.gguf")
    assert Path(path).read_bytes() == CONTENT
    assert steps == ["Downloading someone/Tiny-GGUF:tiny-Q4_K_M.gguf", "Checking someone/Tiny-GGUF"]
    assert sorted(each.name for each in Path(path).parent.iterdir()) == [
        ".lock",
        "tiny-Q4_K_M.gguf",
        "tiny-Q4_K_M.gguf.json",
    ]


@needs_the_extra
def test_what_was_pulled_is_found_again_without_the_hub(hub: Hub, start: Starter, tmp_path: Path) -> None:
    first = start(cache=tmp_path, resolve="someone/Tiny-GGUF:Q8_0").communicate()[0].splitlines()[-1]
    assert first.endswith("tiny-Q8_0.gguf")
    hub.requests.clear()
    for again in ("someone/Tiny-GGUF:Q8_0", "someone/Tiny-GGUF:tiny-Q8_0.gguf"):
        assert start(cache=tmp_path, resolve=again).communicate()[0].splitlines() == [first]
    assert hub.requests == []


@needs_the_extra
def test_a_file_other_than_the_hub_states_is_refused(hub: Hub, start: Starter, tmp_path: Path) -> None:
    hub.stated["tiny-Q8_0.gguf"] = "0" * 64
    message = start(cache=tmp_path, resolve="someone/Tiny-GGUF:tiny-Q8_0.gguf").communicate()[0].splitlines()[-1]
    assert message.startswith("ModelError: someone/Tiny-GGUF:tiny-Q8_0.gguf is not the expected file")
    assert "It was discarded." in message
    assert list(tmp_path.rglob("*.gguf")) == []


@needs_the_extra
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "someone/Tiny-GGUF:Q2_K",
            "has no single file 'Q2_K'. Name one, as someone/Tiny-GGUF:FILE, of: tiny-Q4_K_M.gguf, ",
        ),
        ("someone/Tiny-GGUF@v9", "someone/Tiny-GGUF has no revision v9."),
        ("someone/Nothing:x.gguf", "has no repository someone/Nothing that you can access."),
        ("someone/Gated:x.gguf", "someone/Gated requires accepting its terms."),
    ],
)
def test_what_the_hub_refuses_is_told_in_a_sentence(
    text: str, sentence: str, hub: Hub, start: Starter, tmp_path: Path
) -> None:
    assert sentence in start(cache=tmp_path, resolve=text).communicate()[0].splitlines()[-1]


@needs_the_extra
@pytest.mark.parametrize("text", ["someone/Tiny-GGUF", "qwen3-4b"])
def test_a_hub_out_of_reach_is_said_to_be(
    text: str, monkeypatch: pytest.MonkeyPatch, start: Starter, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    message = start(cache=tmp_path, resolve=text).communicate()[0].splitlines()[-1]
    assert "can't be downloaded from the Hugging Face hub" in message
    assert "Check the connection" in message


@needs_the_extra
def test_a_user_who_chose_to_be_offline_is_reminded(
    monkeypatch: pytest.MonkeyPatch, start: Starter, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for text in ("someone/Tiny-GGUF", "qwen3-4b"):
        message = start(cache=tmp_path, resolve=text).communicate()[0].splitlines()[-1]
        assert "is not on this machine, and HF_HUB_OFFLINE forbids downloading it." in message


@pytest.mark.parametrize("text", ["qwen2.5-1.5b", "someone/Tiny-GGUF", "someone/Tiny-GGUF:tiny.gguf"])
def test_without_the_extra_the_command_that_installs_it_is_told(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match=r'needs another package: `pip install "huggingface_hub>=1.0"`'):
        resolve_model(text, cache=tmp_path)


def test_a_file_that_is_here_needs_no_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    folder = tmp_path / "someone--Tiny-GGUF--main"
    folder.mkdir()
    (folder / "tiny-Q4_K_M.gguf").write_bytes(CONTENT)
    assert resolve_model("someone/Tiny-GGUF", cache=tmp_path) == folder / "tiny-Q4_K_M.gguf"
    assert (
        pull_model(CatalogueModel("x", HubSource("someone/Tiny-GGUF", "")), cache=tmp_path)
        == folder / "tiny-Q4_K_M.gguf"
    )


FILES = [
    "README.md",
    "m-Q4_K_M.gguf",
    "m-Q8_0.gguf",
    "m-Q4_K_S.gguf",
    "mmproj-m-Q4_K_M.gguf",
    "m-BF16-00001-of-00002.gguf",
]


@pytest.mark.parametrize(
    ("files", "wanted", "picked"),
    [
        (FILES, "", "m-Q4_K_M.gguf"),
        (FILES, "q8_0", "m-Q8_0.gguf"),
        (FILES, "m-Q4_K_S.gguf", "m-Q4_K_S.gguf"),
        (["model.f16.gguf", "config.json"], "", "model.f16.gguf"),
        (["low/m-q4_k_m.gguf", "m-q5_k_m.gguf"], "", "low/m-q4_k_m.gguf"),
    ],
)
def test_one_file_is_picked(files: list[str], wanted: str, picked: str) -> None:
    assert pick_file(files, wanted, repository="o/r") == picked


@pytest.mark.parametrize(
    ("files", "wanted", "sentence"),
    [
        (
            FILES,
            "Q4_K",
            "o/r has no single file 'Q4_K'. Name one, as o/r:FILE, of: m-Q4_K_M.gguf, m-Q4_K_S.gguf, m-Q8_0",
        ),
        (FILES, "m-BF16-00001-of-00002.gguf", "o/r has no single file 'm-BF16-00001-of-00002.gguf'."),
        (["a-Q8_0.gguf", "b-Q8_0.gguf"], "", "o/r has no single Q4_K_M model. Name one"),
        (["a-Q4_K_M.gguf", "b-Q4_K_M.gguf"], "", "o/r has no single Q4_K_M model. Name one"),
        (["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"], "", "o/r only has models split into parts."),
        (["config.json", "model.safetensors"], "", "o/r has no GGUF file."),
        (["../../m-Q4_K_M.gguf"], "", "o/r only has models split into parts."),
    ],
)
def test_where_no_one_file_is_meant_the_choice_is_told(files: list[str], wanted: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        pick_file(files, wanted, repository="o/r")
    assert str(caught.value).startswith(sentence)


def test_the_hubs_models_of_the_catalogue_are_one_file_each() -> None:
    source = find_model("qwen2.5-7b").source
    assert isinstance(source, HubSource)
    assert pick_file([source.file], source.file, repository=source.repository) == source.file
