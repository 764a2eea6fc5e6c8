"""Settings: flag over environment over file over default, with secrets masked."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.settings import Settings, default_cache, load_settings, misspelt_variables


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without settings."""
    for name in (*Settings.model_fields, "config", "slots", "in_flight", "book_lanes"):
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
    assert load_settings(port=None).concurrency == 2


def test_the_user_file_is_read_if_the_folder_has_none(tmp_path: Path) -> None:
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
        ({"engine": "magic"}, r"^engine takes one of embedded, vllm, url\. Given: 'magic'\.$"),
        ({"port": 70000}, r"^port takes at most 65535\. Given: '70000'\.$"),
        ({"url": "ftp://x"}, "^url must begin with http:// or https://"),
        ({"adapters": ["foo"]}, r"^adapters must be NAME=VALUE pairs\. Given: 'foo'\.$"),
        ({"vllm_flags": "'a"}, "^vllm_flags must be quoted as in a shell"),
        ({"colour": "red"}, r"^There is no setting colour\.$"),
        ({"prot": 8}, r"^There is no setting prot\. Did you mean port\?$"),
    ],
)
def test_an_invalid_setting_is_refused_by_name(flags: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load_settings(**flags)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("PORT", "abc", "port takes a whole number. APE_PORT says 'abc'."),
        ("SLOTS", "0", "concurrency takes at least 1. APE_SLOTS says '0'."),
        ("REPEATABLE", "maybe", "repeatable takes true or false. APE_REPEATABLE says 'maybe'."),
        ("CONCURRENCY", "65", "concurrency takes at most 64 with the embedded engine. APE_CONCURRENCY says '65'."),
        ("API_KEYS", "sha256:x", "api_keys must have 64 hexadecimal digits after sha256:. It comes from APE_API_KEYS."),
    ],
)  # fmt: skip
def test_an_invalid_variable_is_named_with_its_value_but_no_key_is(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"APE_{variable}", value)
    with pytest.raises(InputError) as caught:
        load_settings()
    assert (str(caught.value), caught.value.field) == (sentence, None)


def test_an_invalid_setting_says_which_source_it_came_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ape.toml").write_text("port = 1\nthreads = 0\ncache = 3\nengine_key = 4\n[adapters]\na = 5\n")
    monkeypatch.setenv("APE_PORT", "x")
    with pytest.raises(InputError) as caught:
        load_settings(window=2)
    assert str(caught.value) == (
        "engine_key takes a text. It comes from ape.toml. cache takes a path. ape.toml says '3'. window takes at least "
        "512. Given: '2'. threads takes at least 1. ape.toml says '0'. adapters takes a path. ape.toml says '5'. port "
        "takes a whole number. APE_PORT says 'x'."
    )
    assert caught.value.field == "window"


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe", b"colour = 'red'"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ape.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"ape\.toml|colour"):
        load_settings()


def test_a_missing_settings_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_CONFIG", "nowhere.toml")
    with pytest.raises(InputError, match=r"nowhere\.toml can't be read"):
        load_settings()


def test_keys_are_kept_as_hashes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "sha256:" + hashlib.sha256(b"opensesame").hexdigest()
    monkeypatch.setenv("APE_API_KEYS", f" opensesame , {digest} ")
    settings = load_settings()
    assert settings.api_keys == (digest, digest)
    assert "opensesame" not in repr(settings)


def test_secrets_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_ENGINE_KEY", "very-secret")
    monkeypatch.setenv("APE_API_KEYS", "opensesame")
    masked = load_settings().masked()
    assert masked["engine_key"] == "********"
    assert "secret" not in str(masked)
    assert len(masked["api_keys"]) < 20


def test_the_key_of_openai_is_sent_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    key = load_settings(url="https://api.openai.com/v1").engine_key
    assert key is not None
    assert key.get_secret_value() == "theirs"
    assert load_settings(url="http://127.0.0.1:8080/v1").engine_key is None
    assert load_settings(url="https://api.openai.com.example/v1").engine_key is None


def test_a_url_on_the_command_line_beats_an_engine_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_ENGINE", "embedded")
    assert load_settings(url="http://127.0.0.1:1/v1").engine == "url"
    assert load_settings(url="http://127.0.0.1:1/v1", engine="embedded").engine == "embedded"


def test_a_mistyped_key_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "ape.toml").write_text('engine_kee = "sk-secret"\n')
    with pytest.raises(InputError, match="engine_kee") as caught:
        load_settings()
    assert "sk-secret" not in str(caught.value)


def test_an_invalid_hash_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_API_KEYS", "sha256:opensesame")
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        load_settings()


@pytest.mark.parametrize(("engine", "concurrency"), [("embedded", 4), ("url", 8), ("vllm", 64)])
def test_concurrency_depends_on_the_engine_unless_it_is_set(engine: str, concurrency: int) -> None:
    given = {"engine": engine, "url": "http://h/v1" if engine == "url" else None, "model": "m"}
    assert load_settings(**given).concurrency == concurrency
    assert load_settings(**given, concurrency=3).concurrency == 3
    assert load_settings(**given, slots=5, in_flight=6).concurrency == (5 if engine == "embedded" else 6)


def test_former_names_are_read_everywhere_and_not_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ape.toml").write_text("slots = 2\nbook_lanes = 3\n")
    assert (load_settings().concurrency, load_settings().book_concurrency) == (2, 3)
    monkeypatch.setenv("APE_SLOTS", "5")
    monkeypatch.setenv("APE_BOOK_CONCURRENCY", "6")
    assert (load_settings().concurrency, load_settings().book_concurrency) == (5, 6)
    assert (load_settings(concurrency=7).concurrency, load_settings(book_lanes=8).book_concurrency) == (7, 8)
    monkeypatch.setenv("APE_CONCURRENCY", "9")
    assert load_settings().concurrency == 9
    assert load_settings(slots=1).concurrency == 1
    assert not {"slots", "in_flight", "book_lanes"} & load_settings().masked().keys()


def test_the_embedded_engine_has_its_own_concurrency_limit() -> None:
    with pytest.raises(InputError, match="concurrency takes at most 64 with the embedded engine"):
        load_settings(concurrency=65)
    assert load_settings(url="http://h/v1", concurrency=65).concurrency == 65


def test_models_are_stored_in_the_users_cache() -> None:
    assert default_cache().parts[-2:] == ("ape", "models")


def test_a_variable_that_is_nearly_a_setting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator who writes APE_RATELIMIT has no limit, and would not know it."""
    for name in ("APE_RATELIMIT", "APE_API_KEY", "APE_RATE_LIMIT", "APE_DATA", "APE_CONFIG"):
        monkeypatch.setenv(name, "1/minute")
    assert misspelt_variables() == {"APE_RATELIMIT": "APE_RATE_LIMIT", "APE_API_KEY": "APE_API_KEYS"}
