"""Names of a book in its job: repaired first, shown to the model, and changed later without a model call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from ape.errors import InputError
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.names_update import NamesChoice, change_names, names_from_ledger, resolve_names, with_fingerprints
from ape.jobs.run import edit_book
from ape.jobs.store import JobStore
from ape.ledger.files.formats import parse_names
from ape.passage.result import Decision
from ape.settings import Settings, load_settings
from tests.scripted import Say, ScriptedServer, translation_in

PAIRS = (
    ("方召推开门，看了看窗外的雨。", "Fang Zao pushed the door open and looked at the rain outside."),
    ("雨下了一整夜，街上没有人。", "It rained all night and there was nobody in the street."),
    ("第二天早上，天晴了，鸟也叫了。", "The next morning the sky cleared and the birds sang too."),
    ("老人坐在桥边，慢慢地抽着烟。", "The old man sat by the bridge and smoked slowly."),
    ("严彪问方召要不要一起去吃饭。", "Yan Biao asked Fang Zhao whether he wanted to eat together."),
)
NAMES = "source,target,variants,gender\n方召,Fang Zhao,Fang Zao (1); Fang Zhao (1),male\n严彪,Yan Biao,Yan Biao (1),\n"


@pytest.fixture
def settings(scripted: ScriptedServer, tmp_path: Path) -> Settings:
    """The scripted engine, and a store of its own."""
    (tmp_path / "source.txt").write_text("\n\n".join(source for source, _ in PAIRS) + "\n")
    (tmp_path / "mt.txt").write_text("\n\n".join(mt for _, mt in PAIRS) + "\n")
    (tmp_path / "names.csv").write_text(NAMES)
    return load_settings(engine="url", url=scripted.url, jobs=f"sqlite:///{tmp_path}/jobs.db")


def edit(folder: Path, settings: Settings, **options: object) -> str:
    given = {"source_language": "zh", "target_language": "en", "settings": settings, **options}
    edit_book(folder / "source.txt", folder / "mt.txt", folder / "out.txt", **given)  # type: ignore[arg-type]
    return (folder / "out.txt").read_text()


def rows(settings: Settings) -> list[JobParagraph]:
    with JobStore(settings.jobs_url) as store:
        (job,) = store.jobs()
        return list(store.rows(job.id))


def test_names_are_repaired_before_the_model_and_the_repair_tells_its_reason(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    text = edit(tmp_path, settings, names=tmp_path / "names.csv")
    assert text.startswith("Fang Zhao pushed the door")
    asked = [translation_in(request) for request in scripted.requests]
    assert asked[0].startswith("Fang Zhao pushed")
    first = rows(settings)[0]
    assert first.result
    assert first.result.decision is Decision.EDITED
    (change,) = first.result.edits
    assert (change.before, change.after, change.kind) == ("Zao", "Zhao", "name")
    assert "方召" in change.reason


def test_the_model_is_shown_the_names_and_genders(settings: Settings, scripted: ScriptedServer, tmp_path: Path) -> None:
    edit(tmp_path, settings, names=tmp_path / "names.csv")
    first, second, *_, last = (
        "\n".join(turn["content"] for turn in request["messages"]) for request in scripted.requests
    )
    assert "方召 = Fang Zhao" in first
    assert "Fang Zhao is “he”" in first
    assert "方召 = Fang Zhao" not in second
    assert "Fang Zhao is “he”" in second  # named just before
    assert "严彪 = Yan Biao" in last


def test_without_a_model_nothing_is_asked(settings: Settings, scripted: ScriptedServer, tmp_path: Path) -> None:
    text = edit(tmp_path, settings, names=tmp_path / "names.csv", use_model=False)
    assert text.startswith("Fang Zhao pushed")
    assert text.replace("Fang Zhao pushed", "Fang Zao pushed") == (tmp_path / "mt.txt").read_text()
    assert not scripted.requests
    assert {row.result.usage.prompt_tokens for row in rows(settings) if row.result} == {0}


def test_a_changed_name_is_applied_again_without_a_model_call(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.script = lambda request, turn: Say(translation_in(request).replace("slowly", "at leisure"))
    edit(tmp_path, settings, names=tmp_path / "names.csv")
    before, asked = rows(settings), len(scripted.requests)
    (tmp_path / "names.csv").write_text(NAMES.replace("方召,Fang Zhao,", "方召,Fang Jao,"))
    text = edit(tmp_path, settings, names=tmp_path / "names.csv")
    assert len(scripted.requests) == asked
    assert text.startswith("Fang Jao pushed")
    assert "Yan Biao asked Fang Jao" in text
    assert "smoked at leisure" in text
    after = rows(settings)
    touched = [one.planned.fingerprint != two.planned.fingerprint for one, two in zip(before, after, strict=True)]
    assert touched == [True, True, True, False, True]  # named, or in the two paragraphs before
    assert after[3] == before[3]


def test_names_can_be_added_to_a_finished_book_and_removed(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    plain = edit(tmp_path, settings)
    asked = len(scripted.requests)
    assert edit(tmp_path, settings, names=tmp_path / "names.csv").startswith("Fang Zhao pushed")
    assert edit(tmp_path, settings).startswith("Fang Zhao pushed")  # without a choice the job keeps its names
    assert edit(tmp_path, settings, names="none") == plain
    assert len(scripted.requests) == asked


def test_a_draft_that_breaks_a_confirmed_name_is_refused(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.script = lambda request, turn: Say(translation_in(request).replace("Fang Zhao", "Fang Zao"))
    text = edit(tmp_path, settings, names=tmp_path / "names.csv")
    assert text.startswith("Fang Zhao pushed")
    result = rows(settings)[0].result
    assert result
    assert result.decision is Decision.EDITED  # by the ledger alone
    assert {finding.guard for finding in result.findings if finding.severity == "reject"} >= {"cast"}


def test_a_glossary_without_variants_is_completed_from_the_book(
    settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    pytest.importorskip("pypinyin", reason="reads Chinese names aloud")
    (tmp_path / "names.txt").write_text("方召->Fang Zhao #male\n")
    text = edit(tmp_path, settings, names=tmp_path / "names.txt", use_model=False)
    assert text.startswith("Fang Zhao pushed")


def test_a_missing_file_of_names_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file") as caught:
        edit(tmp_path, settings, names="nowhere.csv")
    assert caught.value.field == "names"


def test_a_file_changed_while_the_names_are_looked_up_is_applied_by_the_next_run(
    settings: Settings, tmp_path: Path
) -> None:
    pytest.importorskip("pypinyin", reason="reads Chinese names aloud")
    path = tmp_path / "names.txt"
    path.write_text("方召->Fang Zhao\n")
    edit(tmp_path, settings, names=path, use_model=False)
    path.write_text("方召->Fang Jao\n")
    choice = NamesChoice.parse(str(path))

    def change(stage: str, done: int, total: int) -> None:
        path.write_text("方召->Fang Jau\n")

    with JobStore(settings.jobs_url) as store:
        (job,) = store.jobs()
    found = resolve_names(choice, list, job.recipe, listen=change)
    assert found
    assert found.ledger.entities[0].target == "Fang Jao"
    assert not choice.is_of(replace(job, names=found.to_json()))
    assert edit(tmp_path, settings, names=path, use_model=False).startswith("Fang Jau pushed")


def test_a_skipped_paragraph_does_not_change_with_the_names(settings: Settings, tmp_path: Path) -> None:
    edit(tmp_path, settings, use_model=False)
    with JobStore(settings.jobs_url) as store:
        (job,) = store.jobs()
        first = next(store.rows(job.id)).planned
    names = names_from_ledger(parse_names(NAMES, "names.csv", source_language="zh", target_language="en"))
    for planned, same in ((first, False), (replace(first, skip="the pair is doubtful"), True)):
        (with_names,) = with_fingerprints([planned], job.recipe, names)
        (without,) = with_fingerprints([planned], job.recipe, None)
        assert (with_names.fingerprint == without.fingerprint) is same


class _DyingStore(JobStore):
    """A store whose process dies before the changed plan is written."""

    def plan(self, *args: object, **options: object) -> NoReturn:
        raise MemoryError


def test_a_change_of_names_that_was_cut_off_is_made_by_the_next_run(settings: Settings, tmp_path: Path) -> None:
    edit(tmp_path, settings, names=tmp_path / "names.csv", use_model=False)
    changed = NAMES.replace("方召,Fang Zhao,", "方召,Fang Jao,")
    names = names_from_ledger(parse_names(changed, "names.csv", source_language="zh", target_language="en"))
    with _DyingStore(settings.jobs_url) as store:
        (job,) = store.jobs()
        with pytest.raises(MemoryError):
            change_names(store, job, names)
    assert edit(tmp_path, settings, names=tmp_path / "names.csv", use_model=False).startswith("Fang Zhao pushed")
    (tmp_path / "names.csv").write_text(changed)
    text = edit(tmp_path, settings, names=tmp_path / "names.csv", use_model=False)
    assert text.startswith("Fang Jao pushed")
    assert "Yan Biao asked Fang Jao" in text


def test_a_rendering_with_mark_up_is_text_in_the_book(settings: Settings, tmp_path: Path) -> None:
    page = "<!DOCTYPE html><html><head><title>x</title></head><body><p>{}</p></body></html>"
    (tmp_path / "s.html").write_text(page.format(PAIRS[0][0]))
    (tmp_path / "t.html").write_text(page.format(PAIRS[0][1]))
    (tmp_path / "names.csv").write_text(NAMES.replace("方召,Fang Zhao,", "方召,Fang <b>Jao</b> & co,"))
    edit_book(
        tmp_path / "s.html",
        tmp_path / "t.html",
        tmp_path / "o.html",
        source_language="zh",
        target_language="en",
        settings=settings,
        names=tmp_path / "names.csv",
        use_model=False,
    )
    assert "<p>Fang &lt;b&gt;Jao&lt;/b&gt; &amp; co pushed" in (tmp_path / "o.html").read_text()
