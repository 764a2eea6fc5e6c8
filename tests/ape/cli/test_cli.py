"""`ape` as typed: edit, models, settings, demo and errors; as a subprocess where that matters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.main import get_command

from ape.cli.errors import describe_error
from ape.cli.main import app
from ape.errors import InputError
from tests.ape.cli.conftest import MT, Run
from tests.scripted import Fail, Say, ScriptedServer, translation_in

GOOD = "Claire put down her bag and sat down."


@pytest.fixture(autouse=True)
def _passage(tmp_path: Path) -> None:
    (tmp_path / "src.txt").write_text("Claire posa son sac et s’assit.\n", encoding="utf-8")
    (tmp_path / "mt.txt").write_text(MT + "\n", encoding="utf-8")


def test_help_names_the_commands(here: Run) -> None:
    done = here("--help")
    assert done.returncode == 0
    for command in ("edit", "serve", "models", "settings", "demo"):
        assert command in done.stdout


def test_version_is_printed(run: Run) -> None:
    assert run("--version").stdout.strip() == "0.1.0"


def test_edit_prints_the_post_edit_alone(run: Run, scripted: ScriptedServer) -> None:
    scripted.play(Say(GOOD))
    done = run("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url)
    assert (done.returncode, done.stdout) == (0, GOOD + "\n")
    assert "edited" in done.stderr


def test_edit_gives_the_mt_back_with_the_reasons(here: Run, scripted: ScriptedServer) -> None:
    scripted.play(Say("Here is the translation: " + GOOD))
    done = here("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url)
    assert (done.returncode, done.stdout) == (0, MT + "\n")
    assert "rejected" in done.stderr
    assert "attempt 2, preamble" in done.stderr


def test_edit_reads_one_side_from_stdin(here: Run, scripted: ScriptedServer) -> None:
    done = here("edit", "--source", "src.txt", "--mt", "-", "--url", scripted.url, stdin=MT)
    assert done.stdout == MT + "\n"


def test_edit_reads_a_request_from_stdin_and_prints_json(run: Run, scripted: ScriptedServer) -> None:
    scripted.play(Say(GOOD))
    request = json.dumps({"source": "Claire posa son sac et s’assit.", "mt": MT, "seed": 5})
    done = run("edit", "--json", "--url", scripted.url, stdin=request)
    answer = json.loads(done.stdout)
    assert answer["post_edit"] == GOOD
    assert answer["edits"][0]["mt_span"]
    assert scripted.requests[0]["seed"] == 5


def test_flags_reach_the_model(here: Run, scripted: ScriptedServer) -> None:
    flags = ("--glossary", "Claire=Claire", "--instructions", "Plain words.", "--source-language", "French")
    here("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url, *flags, "--temperature", "0.3")
    question = scripted.requests[0]
    assert question["temperature"] == 0.3
    assert "Claire = Claire" in question["messages"][-1]["content"]
    assert "Plain words." in question["messages"][0]["content"]
    assert "French" in question["messages"][0]["content"]


def test_a_flag_beats_the_request_on_stdin(here: Run, scripted: ScriptedServer) -> None:
    request = json.dumps({"source": "Claire posa son sac.", "mt": MT, "seed": 5})
    here("edit", "--url", scripted.url, "--seed", "7", stdin=request)
    assert scripted.requests[0]["seed"] == 7


def test_a_proxy_is_not_used_for_loopback(run: Run, scripted: ScriptedServer) -> None:
    words = ("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url)
    done = run(*words, HTTP_PROXY="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9", APE_RETRY_ATTEMPTS="1")
    assert (done.returncode, done.stdout) == (0, MT + "\n")


@pytest.mark.parametrize(
    ("words", "stdin", "sentence"),
    [
        (("--source", "src.txt"), "", "--mt is missing"),
        (("--source", "none.txt", "--mt", "mt.txt"), "", "none.txt can't be read: No such file"),
        (("--source", "-", "--mt", "-"), "", "Only one of"),
        (("--source", "src.txt", "--mt", "-"), "", "mt: is empty"),
        (("--source", "src.txt", "--mt", "-"), "x" * 20_001, "mt has 20,001 characters; at most 20,000 are allowed"),
        (("--source", "src.txt", "--mt", "-"), b"caf\xe9", "stdin is not UTF-8 (at byte 3); it may be WINDOWS-1252"),
        (("--source", "src.txt", "--mt", "-"), "a\x00b", "U+0000 at position 1"),
        ((), "no json", "stdin is not a JSON request"),
        ((), "[1]", "a JSON object"),
        ((), '{"source": "a"}', "mt: Field required"),
        (("--source", "src.txt", "--mt", "mt.txt", "--glossary", "Claire"), "", "not TERM=WORDING"),
        (("--source", "src.txt", "--mt", "mt.txt", "--top-p", "0"), "", "top_p"),
        (("--source", "src.txt", "--mt", "mt.txt", "--source-language", "frankish"), "", "source_language"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(
    here: Run, scripted: ScriptedServer, words: tuple[str, ...], stdin: str, sentence: str
) -> None:
    done = here("edit", *words, "--url", scripted.url, stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("ape: ")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_flag_out_of_its_range_is_refused_by_its_name(here: Run, scripted: ScriptedServer) -> None:
    done = here("edit", "--source", "src.txt", "--mt", "mt.txt", "--temperature", "9", "--url", scripted.url)
    assert (done.returncode, done.stdout, scripted.requests) == (2, "", [])
    assert "--temperature" in done.stderr


def test_a_failing_engine_is_a_sentence_and_exit_code_one(run: Run, scripted: ScriptedServer) -> None:
    scripted.play(Fail(500))
    words = ("edit", "--source", "src.txt", "--mt", "mt.txt", "--url", scripted.url)
    done = run(*words, APE_RETRY_ATTEMPTS="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The model server failed (500" in done.stderr


def test_an_unknown_model_names_its_neighbours(here: Run) -> None:
    done = here("models", "pull", "smolm2")
    assert done.returncode == 2
    assert "smollm2-135m" in done.stderr


def test_models_list_marks_downloaded_models(here: Run) -> None:
    rows = json.loads(here("models", "list", "--json").stdout)
    assert rows[0]["name"] == "smollm2-135m"
    assert rows[0]["path"] is None
    assert "smollm2-135m" in here("models", "list").stdout


def test_settings_say_where_everything_is_kept_and_how_large_it_is(here: Run, tmp_path: Path) -> None:
    jobs, models = tmp_path / "jobs.sqlite", tmp_path / "models"
    models.mkdir()
    (models / "small.gguf").write_bytes(b"x" * 2_500)
    jobs.write_bytes(b"x" * 1_000)
    jobs.with_name("jobs.sqlite-wal").write_bytes(b"x" * 200)
    places = {"APE_JOBS": str(jobs), "APE_CACHE": str(models), "APE_UPLOADS": str(tmp_path / "none")}
    storage = json.loads(here("settings", "--json", **places).stdout)["storage"]
    assert storage["jobs"] == {"path": str(jobs), "bytes": 1_200}
    assert storage["models"] == {"path": str(models), "bytes": 2_500}
    assert storage["uploaded books"]["bytes"] is None
    printed = here("settings", **places).stdout
    assert "2.5 kB" in printed
    assert "nothing here" in printed


def test_settings_do_not_show_the_password_of_the_job_database(here: Run) -> None:
    done = here("settings", APE_JOBS="postgresql://ape:opensesame@db/ape")
    assert "opensesame" not in done.stdout
    assert "postgresql://ape:" in done.stdout


def test_settings_are_printed_with_secrets_masked(here: Run) -> None:
    done = here("settings", APE_API_KEYS="opensesame", APE_PORT="9999")
    assert "9999" in done.stdout
    assert "opensesame" not in done.stdout
    printed = json.loads(here("settings", "--json", APE_ENGINE_KEY="secret").stdout)
    assert printed["engine_key"] == "********"


def test_demo_shows_changes_and_writes_the_page(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.script = lambda request, turn: Say(translation_in(request).replace("She ", "He ", 1))
    done = here("demo", "--url", scripted.url, "--html", "pages/demo.html", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "Matilda → Mathilde" in done.stdout
    assert " changes in " in done.stdout
    assert "28 passages" in done.stdout
    assert "[-She-]{+He+}" in done.stdout  # without colours the diff has brackets
    page = (tmp_path / "pages" / "demo.html").read_text(encoding="utf-8")
    assert page.count("沈砚秋") >= 2


def test_serve_refuses_the_open_network_without_a_key(here: Run, scripted: ScriptedServer) -> None:
    done = here("serve", "--host", "0.0.0.0", "--url", scripted.url)
    assert done.returncode == 2
    assert "APE_API_KEYS" in done.stderr


def test_the_field_of_an_error_is_printed_as_the_flag_of_the_command() -> None:
    command, words = get_command(app), ["edit", "--source", "src.txt"]
    unclear = InputError("The language is not clear.", field="source_language")
    assert describe_error(unclear, command, words) == "The language is not clear. See --source-language."
    named = InputError("Give --source-language.", field="source_language")
    assert describe_error(named, command, words) == "Give --source-language."
    other = InputError("There are too few votes.", field="votes")  # this command has no such flag
    assert describe_error(other, command, words) == "There are too few votes."
    argument = InputError("The book is empty.", field="source")
    assert describe_error(argument, command, ["book", "edit", "a.txt", "b.txt"]) == "The book is empty."
