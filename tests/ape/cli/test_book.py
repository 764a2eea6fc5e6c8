"""`ape book` as typed: plan, edit, resume, redo, report, export, and errors; as a subprocess where that matters."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ape.jobs.store import JobStore
from tests.ape.books.book_factory import make_epub
from tests.ape.books.sample_book import mended, tale
from tests.ape.cli.conftest import APE, Run
from tests.ape.jobs.job_factory import a_job
from tests.ape.jobs.test_planning import two_englishes
from tests.scripted import Fail, Hang, Move, Say, ScriptedServer, translation_in

pytestmark = pytest.mark.subprocess

LANGUAGES = ("--source-language", "fr", "--target-language", "en")
PATIENCE = {"APE_RETRY_ATTEMPTS": "1", "APE_TIMEOUT_SECONDS": "20"}


def mend(request: dict[str, Any], turn: int) -> Move:
    return Say(mended(translation_in(request)))


@pytest.fixture
def book(tmp_path: Path, scripted: ScriptedServer) -> list[str]:
    """The arguments that edit a book of 12 paragraphs in three chapters."""
    chapters = list(tale(12, chapter=4))
    make_epub(tmp_path / "livre.epub", paragraphs=[[one.source for one in part] for part in chapters], language="fr")
    make_epub(tmp_path / "book.epub", paragraphs=[[one.mt for one in part] for part in chapters], language="en")
    scripted.script = mend
    return ["book", "edit", "livre.epub", "book.epub", "-o", "out.epub", *LANGUAGES, "--url", scripted.url]


def test_a_book_is_edited_and_the_same_command_again_sends_no_request(
    run: Run, here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    done = run(*book)
    assert done.returncode == 0, done.stderr
    assert "12 paragraphs in, 12 out · 12 edited" in done.stdout
    assert len(scripted.requests) == 12
    before = (tmp_path / "out.epub").read_bytes()
    again = here(*book, "--json", XDG_DATA_HOME=str(tmp_path / "d"))
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["paragraphs_out"] == 12
    assert "nothing to do" in again.stderr
    assert len(scripted.requests) == 12
    assert (tmp_path / "out.epub").read_bytes() == before


def test_other_settings_are_not_mixed_in_silently(here: Run, book: list[str], scripted: ScriptedServer) -> None:
    assert here(*book).returncode == 0
    scripted.requests.clear()
    done = here(*book, "--context", "1")
    assert done.returncode == 2
    assert "context was 2 and is 1" in done.stderr
    assert "--again" in done.stderr
    assert not scripted.requests
    assert here(*book, "--context", "1", "--again").returncode == 0
    assert len(scripted.requests) == 12


def test_a_changed_paragraph_of_the_mt_is_edited_again(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    output = [one for part in tale(9) for one in part]
    lines = [{"source": one.source, "mt": one.mt} for one in output]
    scripted.script = mend

    def write() -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (tmp_path / "pairs.jsonl").write_text(text, encoding="utf-8")

    write()
    words = ("book", "edit", "pairs.jsonl", "-o", "out.jsonl", *LANGUAGES, "--url", scripted.url)
    assert here(*words).returncode == 0
    scripted.requests.clear()
    lines[4]["mt"] = lines[4]["mt"].replace("Page 5", "Page five")
    write()
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert "8 paragraphs are kept, 1 are waiting" in done.stderr
    assert len({translation_in(request) for request in scripted.requests}) == 1


def test_quarantined_paragraphs_are_listed_and_only_they_are_redone(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    def poisoned(request: dict[str, Any], turn: int) -> Move:
        return Fail(500) if "Page 7:" in translation_in(request) else mend(request, turn)

    scripted.script = poisoned
    done = here(*book, "--json", **PATIENCE)
    assert done.returncode == 3, done.stderr
    output = json.loads(done.stdout)
    assert list(output["quarantined"]) == ["OEBPS/ch02.xhtml#3"]
    assert "OEBPS/ch02.xhtml#3" in done.stderr
    assert "--redo quarantined" in done.stderr
    assert (output["paragraphs_in"], output["paragraphs_out"], output["edited"]) == (12, 12, 11)

    assert here(*book, **PATIENCE).returncode == 3
    scripted.script = mend
    scripted.requests.clear()
    done = here(*book, "--redo", "quarantined", "--json")
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 1
    assert json.loads(done.stdout)["edited"] == 12


def test_an_engine_outage_stops_the_book_and_quarantines_nothing(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.play(Fail(503))
    done = here(*book, "--concurrency", "2", **PATIENCE)
    assert done.returncode == 1
    assert "in a row" in done.stderr
    assert not (tmp_path / "out.epub").exists()
    status = json.loads(here("book", "status", "out.epub", "--json").stdout)
    assert (status["state"], status["waiting"], status["quarantined"]) == ("failed", 12, 0)
    scripted.script = mend
    assert here(*book).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_saves_and_prints_how_to_resume(
    number: signal.Signals, book: list[str], scripted: ScriptedServer, tmp_path: Path, here: Run
) -> None:
    scripted.script = lambda request, turn: mend(request, turn) if turn < 5 else Hang()
    process = subprocess.Popen(
        [str(APE), *book, "--concurrency", "1"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    deadline = time.monotonic() + 300
    while len(scripted.requests) < 6:
        assert process.poll() is None
        assert time.monotonic() < deadline, "it never sent the sixth request"
        time.sleep(0.01)
    process.send_signal(number)
    message = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 130, message
    assert "5 of 12 paragraphs are finished and saved" in message
    assert "ape book edit livre.epub book.epub -o out.epub" in message
    assert not (tmp_path / "out.epub").exists()
    assert json.loads(here("book", "status", "out.epub", "--json").stdout)["state"] == "stopped"
    scripted.script = mend
    scripted.requests.clear()
    done = here(*book, "--concurrency", "1")
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 7


def test_an_output_of_another_program_is_never_overwritten(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "out.epub").write_bytes(b"my only copy")
    done = here(*book)
    assert done.returncode == 2
    assert "exists and was not written by this job" in done.stderr
    assert (tmp_path / "out.epub").read_bytes() == b"my only copy"
    assert not scripted.requests
    assert here(*book, "--overwrite").returncode == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("livre.epub", "book.epub", "-o", "book.epub"), "is the input itself"),
        (("livre.epub", "book.epub", "-o", "no/such/out.epub"), "There is no folder"),
        (("livre.epub", "book.epub", "-o", "d"), "is a folder"),
        (("livre.epub", "gone.epub", "-o", "out.epub"), "There is no file gone.epub"),
        (("book.epub", "livre.epub", "-o", "out.epub"), "swapped"),
        (("livre.epub", "livre.epub", "-o", "out.epub"), "same"),
        (("livre.epub", "empty.txt", "-o", "out.txt"), "empty"),
        (("livre.epub", "-o", "out.epub"), "Give both files"),
        (("livre.epub", "book.epub", "-o", "out.docx"), "would be a EPUB file"),
    ],
)
def test_bad_books_are_refused_before_any_request(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "empty.txt").touch()
    inputs = [(tmp_path / name).read_bytes() for name in ("livre.epub", "book.epub")]
    done = here("book", "edit", *words, *LANGUAGES, "--url", scripted.url)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not scripted.requests
    assert [(tmp_path / name).read_bytes() for name in ("livre.epub", "book.epub")] == inputs


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused_before_any_request(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    done = here(*book[:5], "closed/out.epub", *book[6:])
    assert done.returncode == 2
    assert "Nothing can be written" in done.stderr
    assert not scripted.requests


def test_a_device_is_never_replaced_by_a_file(here: Run, book: list[str], tmp_path: Path) -> None:
    assert here(*book).returncode == 0
    os.mkfifo(tmp_path / "pipe")
    done = here("book", "export", "out.epub", "-o", "pipe", "--to", "jsonl", "--overwrite")
    assert done.returncode == 2
    assert "is not a regular file" in done.stderr
    assert (tmp_path / "pipe").is_fifo()


def test_source_text_left_in_the_book_is_reported(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    output = [one for part in tale(8) for one in part]
    lines = [{"source": one.source, "mt": one.mt} for one in output]
    lines[3]["mt"] = lines[3]["source"]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (tmp_path / "pairs.jsonl").write_text(text, encoding="utf-8")
    scripted.script = mend
    words = ("book", "edit", "pairs.jsonl", "-o", "out.jsonl", *LANGUAGES, "--url", scripted.url, "--json")
    done = here(*words)
    assert done.returncode == 3
    assert json.loads(done.stdout)["left_over_count"] == 1
    assert "Source text is left in the book: 1" in done.stderr


def test_a_job_can_be_shown_reported_exported_and_deleted(here: Run, book: list[str], tmp_path: Path) -> None:
    assert here(*book, "--html", "while.html").returncode == 0
    assert "livre" not in here("book", "status").stderr
    status = json.loads(here("book", "status", "out.epub", "--json").stdout)
    assert (status["state"], status["edited"], len(status["chapters"])) == ("done", 12, 3)
    assert here("book", "report", status["id"][:5], "-o", "r.html").returncode == 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "while.html").exists()
    for kind in ("jsonl", "tsv", "txt", "tmx", "xliff"):
        done = here("book", "export", "out.epub", "--to", kind, "-o", f"x.{kind}")
        assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 12
    assert here("book", "export", "out.epub", "-o", "x.jsonl").returncode == 2
    assert here("book", "export", "out.epub", "-o", "copy.epub").returncode == 0
    assert (tmp_path / "copy.epub").read_bytes() == (tmp_path / "out.epub").read_bytes()
    assert here("book", "remove", "out.epub").returncode == 0
    assert here("book", "status", "out.epub").returncode == 2


def test_the_suffix_of_an_export_decides_its_format(here: Run, book: list[str], tmp_path: Path) -> None:
    assert here(*book).returncode == 0
    for name, beginning in {"a.tmx": "<?xml", "a.xlf": "<?xml", "a.jsonl": '{"id"', "a.tsv": "id\t"}.items():
        done = here("book", "export", "out.epub", "-o", name)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(beginning.encode())
    for name in ("a.docx", "a.pdf"):
        done = here("book", "export", "out.epub", "-o", name)
        assert done.returncode == 2
        assert "would be a file of the format EPUB" in done.stderr
    done = here("book", "export", "out.epub", "-o", "b.tmx", "--to", "book")
    assert done.returncode == 2
    assert not [name for name in ("a.docx", "a.pdf", "b.tmx") if (tmp_path / name).exists()]


def test_a_run_that_changed_nothing_says_so_and_names_the_model(
    here: Run, book: list[str], scripted: ScriptedServer
) -> None:
    scripted.script = lambda request, turn: Say(translation_in(request))
    done = here(*book)
    assert done.returncode == 0, done.stderr
    assert "Nothing was changed: the output is the MT." in done.stderr
    assert "Model: " in done.stderr


def test_a_finished_job_is_neither_paused_nor_cancelled(here: Run, book: list[str]) -> None:
    assert here(*book).returncode == 0
    for verb, state in (("pause", "paused"), ("cancel", "cancelled")):
        refused = here("book", verb, "out.epub")
        assert refused.returncode == 2
        assert f"is done: it can't be {state}" in refused.stderr
    assert json.loads(here("book", "status", "out.epub", "--json").stdout)["state"] == "done"


def test_the_status_of_jobs_and_chapters_can_be_read_at_80_columns(here: Run, book: list[str], tmp_path: Path) -> None:
    assert here(*book).returncode == 0
    [first, second] = here("book", "status").stdout.splitlines()
    job, _, rest = first.partition("  ")
    assert rest == "book.epub: done, 12 of 12 finished (12 edited, 0 unchanged, 0 rejected)"
    assert second.strip() == f"-> {tmp_path / 'out.epub'}"
    lines = here("book", "status", job, COLUMNS="80").stdout.splitlines()
    assert lines[2].split() == ["chapter", "title", "paragraphs", "edited"]
    assert all(len(line) <= 80 for line in lines[2:])


def test_an_export_names_its_file_and_how_to_replace_one(here: Run, book: list[str]) -> None:
    assert here(*book).returncode == 0
    assert here("book", "export", "out.epub", "-o", "a.tmx").stdout == "a.tmx\n"
    assert here("book", "export", "out.epub", "-o", "a.tmx").stderr.endswith("See --overwrite.\n")


def test_chapters_are_edited_in_the_order_of_the_book(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    paragraphs = [one for part in tale(60) for one in part]
    parts = [paragraphs[:3], paragraphs[3:21], paragraphs[21:28]]
    make_epub(tmp_path / "livre.epub", paragraphs=[[one.source for one in part] for part in parts], language="fr")
    make_epub(tmp_path / "book.epub", paragraphs=[[one.mt for one in part] for part in parts], language="en")
    scripted.script = mend
    words = ("book", "edit", "livre.epub", "book.epub", "-o", "out.epub", *LANGUAGES, "--url", scripted.url)
    done = here(*words, "--concurrency", "1")
    assert done.returncode == 0, done.stderr
    asked = [translation_in(request) for request in scripted.requests]
    assert asked == [one.mt for part in parts for one in part]


def test_one_paragraph_or_all_rejected_paragraphs_are_redone(
    here: Run, book: list[str], scripted: ScriptedServer
) -> None:
    def half(request: dict[str, Any], turn: int) -> Move:
        return Say("Nonsense.") if "Page 2:" in translation_in(request) else mend(request, turn)

    scripted.script = half
    assert here(*book).returncode == 0
    scripted.script = mend
    scripted.requests.clear()
    assert here("book", "redo", "out.epub", "--rejected").stdout.startswith("1 paragraph will")
    assert here("book", "redo", "out.epub", "OEBPS/ch01.xhtml#1").returncode == 0
    assert here("book", "redo", "out.epub", "nowhere#1").returncode == 2
    assert here("book", "redo", "out.epub").returncode == 2
    assert here(*book).returncode == 0
    assert len(scripted.requests) == 2


def test_a_folder_that_was_moved_is_still_the_same_job(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    for name in ("livre.epub", "book.epub"):
        (tmp_path / name).rename(tmp_path / "one" / name)

    def words(folder: str) -> list[str]:
        return ["book", "edit", f"{folder}/livre.epub", f"{folder}/book.epub", "-o", f"{folder}/out.epub", *book[6:]]

    assert here(*words("one")).returncode == 0
    (tmp_path / "one").rename(tmp_path / "two")
    done = here(*words("two"))
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 12
    assert "two/out.epub: 12 paragraphs in" in done.stdout
    assert here("book", "report", "two/out.epub", "-o", "r.html").returncode == 0
    assert here("book", "export", "two/out.epub", "-o", "copy.epub").returncode == 0


def test_a_chapter_missing_from_the_mt_is_in_the_summary_and_the_report(
    here: Run, book: list[str], tmp_path: Path
) -> None:
    chapters = [[one.mt for one in part] for part in tale(60, chapter=20)]
    source = [[one.source for one in part] for part in tale(60, chapter=20)]
    make_epub(tmp_path / "livre.epub", paragraphs=source, language="fr")
    make_epub(tmp_path / "book.epub", paragraphs=[chapters[0], chapters[2]], language="en")
    done = here(*book, "--json", "--html", "r.html")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["source_without_mt"]["count"] == 20
    assert "No MT was found for paragraphs of the source: 20" in done.stderr
    assert "Source without MT" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert here(*book).returncode == 3


def test_a_refused_key_stops_the_book_immediately(here: Run, book: list[str], scripted: ScriptedServer) -> None:
    scripted.play(Fail(401))
    done = here(*book, "--concurrency", "2")
    assert done.returncode == 1
    assert "APE_ENGINE_KEY" in done.stderr
    assert len(scripted.requests) <= 2


def test_a_plan_sends_no_request(here: Run, book: list[str], scripted: ScriptedServer) -> None:
    done = here("book", "plan", "livre.epub", "book.epub", *LANGUAGES, "--url", scripted.url)
    assert done.returncode == 0, done.stderr
    for word in ("chapters", "paragraphs", "tokens", f"model       the default model of {scripted.url}"):
        assert word in done.stdout
    assert json.loads(here("book", "plan", "livre.epub", "book.epub", "--json").stdout)
    assert not scripted.requests


def test_another_process_can_help_with_a_job_that_is_paused_or_running(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.play(Fail(503))
    assert here(*book, "--concurrency", "2", **PATIENCE).returncode == 1
    scripted.script = mend
    scripted.requests.clear()
    done = here("book", "work", "out.epub", "--url", scripted.url)
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 12
    assert here(*book).returncode == 0
    assert len(scripted.requests) == 12


def latin(tmp_path: Path, count: int) -> tuple[str, ...]:
    """A book in Latin-1, which has no curly quotation marks."""
    output = [one for part in tale(count) for one in part]
    straight = str.maketrans("“”’", '""\'')
    for name, texts in (("s.txt", [one.source for one in output]), ("m.txt", [one.mt for one in output])):
        content = "\n\n".join(text.translate(straight).replace("œ", "oe") for text in texts) + "\n"
        (tmp_path / name).write_bytes(content.encode("latin-1"))
    return ("book", "edit", "s.txt", "m.txt", "-o", "o.txt", *LANGUAGES, "--encoding", "latin-1", "--json")


def test_quotation_marks_missing_from_the_encoding_become_ascii(
    here: Run, scripted: ScriptedServer, tmp_path: Path
) -> None:
    words = latin(tmp_path, 30)
    scripted.script = lambda request, turn: Say(translation_in(request).replace(": ", " — “so”: ", 1))
    done = here(*words, "--url", scripted.url)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["left_out"] == []
    assert output["edited"] > 20
    assert (tmp_path / "o.txt").read_bytes().decode("latin-1").count('-- "so"') == output["edited"]


def test_a_post_edit_that_the_encoding_lacks_is_listed_and_the_book_is_written(
    here: Run, scripted: ScriptedServer, tmp_path: Path
) -> None:
    words = latin(tmp_path, 40)
    scripted.script = lambda request, turn: Say(translation_in(request).replace("Page ", "Page № ", 1))
    done = here(*words, "--url", scripted.url)
    assert done.returncode == 3, done.stderr
    output = json.loads(done.stdout)
    assert len(output["left_out"]) == output["edited"] > 20
    assert "№" in output["left_out"][0]["message"]
    assert (tmp_path / "o.txt").read_bytes() == (tmp_path / "m.txt").read_bytes()


def test_a_paragraph_of_thirty_thousand_words_is_skipped_with_the_reason(
    here: Run, scripted: ScriptedServer, tmp_path: Path
) -> None:
    output = [one for part in tale(9) for one in part]
    for name, texts in (("s.txt", [one.source for one in output]), ("m.txt", [one.mt for one in output])):
        texts[4] = " ".join([texts[4]] * 2_000)
        (tmp_path / name).write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    scripted.script = mend
    done = here("book", "edit", "s.txt", "m.txt", "-o", "o.txt", *LANGUAGES, "--url", scripted.url, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["skipped"] == {"longer than 20,000 characters": 1}
    assert json.loads(done.stdout)["paragraphs_out"] == 9


def test_italics_follow_their_words(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    source = "Hugo portait un chapeau <i>petit</i> et <b>rouge</b>, et il marchait vite."
    mt = "Hugo wore a hat <i>small</i> and <b>red</b>, and he walked quickly."
    for name, text, language in (("s.epub", source, "fr"), ("m.epub", mt, "en")):
        make_epub(tmp_path / name, paragraphs=[["<h2>Hugo</h2>", f"<p>{text}</p>"]], language=language)
    swap = ("hat ⟦1⟧small⟦/1⟧ and ⟦2⟧red⟦/2⟧", "⟦2⟧red⟦/2⟧ and ⟦1⟧small⟦/1⟧ hat")
    scripted.script = lambda request, turn: Say(translation_in(request).replace(*swap))
    done = here("book", "edit", "s.epub", "m.epub", "-o", "o.epub", *LANGUAGES, "--url", scripted.url, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["edited"] == 1, done.stdout
    with zipfile.ZipFile(tmp_path / "o.epub") as archive:
        page = archive.read("OEBPS/ch01.xhtml").decode()
    assert "Hugo wore a <b>red</b> and <i>small</i> hat, and he walked quickly." in page


@pytest.mark.parametrize("name", ["livre.epub", "book.epub", "out.epub", "diary.txt"])
def test_a_report_never_replaces_a_book_or_another_file(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path, name: str
) -> None:
    (tmp_path / "diary.txt").write_text("dear diary")
    before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else None
    done = here(*book, "--html", name)
    assert done.returncode == 2, done.stderr
    assert not scripted.requests
    assert ((tmp_path / name).read_bytes() if (tmp_path / name).exists() else None) == before


def test_a_report_may_replace_a_report(here: Run, book: list[str]) -> None:
    assert here(*book, "--html", "r.html").returncode == 0
    assert here("book", "report", "out.epub", "-o", "r.html").returncode == 0
    assert here("book", "report", "out.epub", "-o", "livre.epub").returncode == 2


def test_a_finished_job_without_output_is_written_by_the_next_run(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*book).returncode == 0
    first = (tmp_path / "out.epub").read_bytes()
    assert here("book", "redo", "out.epub", "OEBPS/ch01.xhtml#2").returncode == 0
    # Another process finishes the paragraphs without writing the book.
    scripted.script = lambda request, turn: Say(translation_in(request))
    assert here("book", "work", "out.epub", "--url", scripted.url).returncode == 0
    assert (tmp_path / "out.epub").read_bytes() == first
    scripted.requests.clear()
    assert here(*book).returncode == 0
    assert not scripted.requests
    assert (tmp_path / "out.epub").read_bytes() != first


def test_a_file_that_appears_at_the_output_path_is_not_overwritten(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    def put_something_there(request: dict[str, Any], turn: int) -> Move:
        (tmp_path / "out.epub").write_bytes(b"my only copy")
        return mend(request, turn)

    scripted.script = put_something_there
    done = here(*book)
    assert done.returncode == 2
    assert "exists and was not written by this job" in done.stderr
    assert (tmp_path / "out.epub").read_bytes() == b"my only copy"
    (tmp_path / "out.epub").unlink()
    scripted.requests.clear()
    assert here(*book).returncode == 0
    assert not scripted.requests


def test_a_job_that_is_still_being_planned_is_not_worked_on(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    with JobStore(str(tmp_path / "unplanned.db")) as store:
        store.add(a_job("unplanned"))
    done = here("book", "work", "unplanned", "--url", scripted.url, APE_JOBS=str(tmp_path / "unplanned.db"))
    assert done.returncode == 2, done.stderr
    assert "still being read" in done.stderr


def test_new_file_options_apply_to_a_finished_book(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    words = latin(tmp_path, 9)
    scripted.script = lambda request, turn: Say(translation_in(request))
    assert here(*words, "--url", scripted.url).returncode == 0
    scripted.requests.clear()
    done = here(*words, "--format", "markdown", "--url", scripted.url)
    assert done.returncode == 0, done.stderr
    assert "nothing to do" not in done.stderr
    assert not scripted.requests  # the texts are the same
    again = here(*words, "--format", "markdown", "--url", scripted.url)
    assert "nothing to do" in again.stderr


def test_a_language_may_be_named_with_its_region(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    two_englishes(tmp_path / "memory.tmx")
    done = here("book", "plan", "memory.tmx", "--target-language", "en-US", "--url", scripted.url)
    assert done.returncode == 0, done.stderr
    assert "12 paragraphs, fr to en (tmx)" in done.stdout


@pytest.mark.parametrize("name", ["livre.epub", "book.epub"])
def test_an_export_never_replaces_an_input(here: Run, book: list[str], tmp_path: Path, name: str) -> None:
    assert here(*book).returncode == 0
    before = (tmp_path / name).read_bytes()
    for kind in ("book", "jsonl"):
        done = here("book", "export", "out.epub", "-o", name, "--to", kind, "--overwrite")
        assert done.returncode == 2, done.stderr
        assert "is the input itself" in done.stderr
    assert (tmp_path / name).read_bytes() == before


def test_an_unwritable_report_is_refused_before_any_request(
    here: Run, book: list[str], scripted: ScriptedServer
) -> None:
    done = here(*book, "--html", "nowhere/r.html")
    assert done.returncode == 2, done.stderr
    assert "There is no folder nowhere" in done.stderr
    assert not scripted.requests


def test_the_summary_is_printed_although_the_report_fails(
    here: Run, book: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()

    def take_the_folder_away(request: dict[str, Any], turn: int) -> Move:
        if turn == 0:
            (tmp_path / "pages").rmdir()
        return mend(request, turn)

    scripted.script = take_the_folder_away
    done = here(*book, "--concurrency", "1", "--html", "pages/r.html")
    assert done.returncode == 3, done.stderr
    assert "12 paragraphs in, 12 out · 12 edited" in done.stdout
    assert "The report was not written" in done.stderr
