"""Settings: flag over environment over file over default, and no secret shown."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which nothing is set."""
    for name in (*Settings.model_fields, "config"):
        monkeypatch.delenv(f"APE_{name.upper()}", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert load_settings().port == 8000
    (tmp_path / "ape.toml").write_text("port = 1111\nslots = 2\n")
    assert load_settings().port == 1111
    monkeypatch.setenv("APE_PORT", "2222")
    assert load_settings().port == 2222
    assert load_settings(port=3333).port == 3333
    assert load_settings(port=None).slots == 2


def test_the_users_own_file_is_read_where_the_folder_has_none(tmp_path: Path) -> None:
    own = tmp_path / "config" / "ape" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('host = "127.0.0.2"\n')
    assert load_settings().host == "127.0.0.2"


def test_a_url_is_enough_to_mean_the_url_engine() -> None:
    settings = load_settings(url="http://127.0.0.1:1/v1/")
    assert (settings.engine, settings.url) == ("url", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"engine": "url"}, "needs a server"),
        ({"engine": "magic"}, "engine: Input should be 'embedded', 'vllm' or 'url'"),
        ({"port": 70000}, "port: .* 65535"),
        ({"url": "ftp://x"}, "url: begins with http"),
        ({"colour": "red"}, "colour: Extra inputs"),
    ],
)
def test_what_can_not_be_is_a_sentence_with_its_name(flags: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load_settings(**flags)


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe", b"colour = 'red'"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ape.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"ape\.toml|colour"):
        load_settings()


def test_a_named_file_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_CONFIG", "nowhere.toml")
    with pytest.raises(InputError, match=r"nowhere\.toml can't be read"):
        load_settings()


def test_keys_are_kept_as_hashes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "sha256:" + hashlib.sha256(b"opensesame").hexdigest()
    monkeypatch.setenv("APE_API_KEYS", f" opensesame , {digest} ")
    settings = load_settings()
    assert settings.api_keys == (digest, digest)
    assert "opensesame" not in repr(settings)


def test_nothing_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_ENGINE_KEY", "very-secret")
    monkeypatch.setenv("APE_API_KEYS", "opensesame")
    shown = load_settings().shown()
    assert shown["engine_key"] == "********"
    assert "secret" not in str(shown)
    assert len(shown["api_keys"]) < 20


def test_the_key_of_openai_is_sent_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    key = load_settings(url="https://api.openai.com/v1").engine_key
    assert key is not None
    assert key.get_secret_value() == "theirs"
    assert load_settings(url="http://127.0.0.1:8080/v1").engine_key is None
    assert load_settings(url="https://api.openai.com.example/v1").engine_key is None


def test_a_url_on_the_command_line_beats_an_engine_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("APE_ENGINE", "embedded")
    assert load_settings(url="http://127.0.0.1:1/v1").engine == "url"
    assert load_settings(url="http://127.0.0.1:1/v1", engine="embedded").engine == "embedded"


def test_a_mistyped_key_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "ape.toml").write_text('engine_kee = "sk-secret"\n')
    with pytest.raises(InputError, match="engine_kee") as caught:
        load_settings()
    assert "sk-secret" not in str(caught.value)


def test_a_hash_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_API_KEYS", "sha256:opensesame")
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        load_settings()
