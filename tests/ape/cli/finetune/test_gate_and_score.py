"""`ape finetune gate` and `ape finetune score` on stored drafts; missing drafts are made."""

from __future__ import annotations

import asyncio
import hashlib
import json
import resource
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ape.adapters import AdapterCardBase, amend_card, read_base, read_card
from ape.adapters.gguf import GGUF_FILE
from ape.engines.factory import open_engine
from ape.jobs.store import JobStore
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.store import ReviewStore
from ape.settings import Settings, default_cache
from finetune.base_model import find_base
from finetune.data.example import Example, sample_evenly
from finetune.export.gguf_lora import write_gguf_lora
from finetune.scoring.served_adapter import ScoredModel, ServedAdapter, find_prompted_model, find_served_adapter
from prompts import prompt_format
from tests.ape.cli.conftest import Run
from tests.ape.review.conftest import fill
from tests.finetune.data.sample_text import write_rows
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny

SETTINGS = Settings(window=512, concurrency=1, cache=default_cache())
NOUNS = "stone river lantern winter garden letter window harbour candle bridge".split()


def passage(number: int) -> tuple[Example, str, float]:
    """An example, its draft and log-probabilities: corrections are certain, errors are uncertain."""
    random = Random(number)
    one, two, three = random.sample(NOUNS, 3)
    human = f"The {one} stood near the old {two} and nobody had seen the {three} ."
    mt = human.replace("stood", "stand", 1)
    example = Example(f"p{number}", "tales", f"Pierre {number} près de la rivière .", mt, human, "fr", "en")
    if number % 3:
        return example, human, -0.02
    return example, mt.replace("old", "bald", 1), -2.5


# Edits, those that help and harm, and the same of those that pass: two thirds mend a verb, the rest spoil an adjective.
KINDS = {"verb form": (60, 60, 0, 60, 60, 0), "word choice": (30, 0, 30, 0, 0, 0)}
PASSAGES = [passage(number) for number in range(90)]
EXAMPLES = [example for example, _, _ in PASSAGES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ServedAdapter]:
    """A random adapter on a random base, exported, with a file of artificial drafts."""
    place = tmp_path_factory.mktemp("gate")
    base = make_tiny(place / "tiny")
    model = make_gguf(base, place / "tiny.gguf")
    output = AdapterCardBase(model=str(model), fingerprint=read_base(str(base)).fingerprint)
    adapter = make_adapter(place / "mine", base, card_base=output)
    write_gguf_lora(adapter, find_base(str(base)), adapter / GGUF_FILE)
    served = asyncio.run(find_served_adapter(adapter, SETTINGS))
    tuned = [draft(served.tuned, *one) for one in PASSAGES]
    untuned = [draft(served.untuned, one, one.mt, -0.1) for one in sample_evenly(EXAMPLES, 9)]
    write_rows(adapter / "drafts.jsonl", [*tuned, *untuned])
    return adapter, served


def draft(measured: ScoredModel, example: Example, text: str, sure: float) -> dict[str, Any]:
    """A line of the file of drafts."""
    prompt = prompt_format(measured.model.format).render(example.question)
    known = example.mt.split()
    logprobs = [
        [(" " if at else "") + word, -0.01 if word in known else sure, []] for at, word in enumerate(text.split(" "))
    ]
    return {
        "prompt": hashlib.sha256(prompt.text.encode()).hexdigest()[:20],
        "id": example.id,
        "key": measured.cache_key,
        "text": text,
        "finish": "stop",
        "usage": [20, 10],
        "chances": logprobs,
    }


@pytest.fixture
def adapter(made: tuple[Path, ServedAdapter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Run) -> Path:
    """A copy of the adapter in the working folder, with the rows."""
    monkeypatch.setenv("APE_WINDOW", "512")
    monkeypatch.setenv("APE_SLOTS", "1")
    write_rows(
        tmp_path / "rows.jsonl",
        (
            {
                "id": one.id,
                "book": one.book,
                "source": one.source,
                "mt": one.mt,
                "human": one.human,
                "source_language": "fr",
                "target_language": "en",
            }
            for one in EXAMPLES
        ),
    )
    return shutil.copytree(made[0], tmp_path / "mine")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an engine was opened")

    monkeypatch.setattr("ape.engines.factory.open_engine", refuse)


async def test_the_files_describe_what_the_engine_serves(made: tuple[Path, ServedAdapter]) -> None:
    """Otherwise drafts would be stored under one key and looked up under another."""
    served = made[1]
    async with open_engine(served.settings) as engine:
        models = {model.name: replace(model, window=None) for model in await engine.models()}
    assert models == {one.model.name: one.model for one in (served.tuned, served.untuned)}


@pytest.mark.usefixtures("no_engine")
def test_a_filter_is_fitted_on_stored_drafts_and_written_to_the_card(here: Run, adapter: Path) -> None:
    done = here("finetune", "gate", "mine", "--rows", "rows.jsonl")
    assert done.returncode == 0, done.stderr
    first, second, third, kinds, *by_kind, written = done.stdout.splitlines()
    gate = read_card(adapter).gate
    assert gate is not None
    assert first == f"90 edits were found; the threshold is {gate.threshold:g}."
    assert "In cross-validation, 60 edits pass, with the threshold of the other folds." in second
    assert third == "  fr-en: +60 of 1,260 words"  # expected: a word in each of the 60 that mend, 14 words in all 90
    assert kinds.startswith("By kind of edit")
    assert by_kind == ["  verb form: 60 (+60 -0), 60 pass (+60 -0)", "  word choice: 30 (+0 -30), 0 pass (+0 -0)"]
    assert written == "The filter was written to mine."
    again = here("finetune", "gate", "mine", "--rows", "rows.jsonl", "--json")
    assert json.loads(again.stdout) == {
        "threshold": gate.threshold,
        "kept": 60,
        "edits": 90,
        "won": {"fr-en": 60.0},
        "words": {"fr-en": 1260},
        "loops": {},
        "cuts_loops": False,
        "restores_names": False,
        "kinds": {
            "verb form": {
                "edits": 60,
                "helped": 60,
                "harmed": 0,
                "passed": 60,
                "passed_helped": 60,
                "passed_harmed": 0,
            },
            "word choice": {
                "edits": 30,
                "helped": 0,
                "harmed": 30,
                "passed": 0,
                "passed_helped": 0,
                "passed_harmed": 0,
            },
        },
    }


@pytest.mark.usefixtures("no_engine")
def test_a_filter_is_fitted_on_what_a_reviewer_accepted_and_rejected(
    here: Run, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows.jsonl").unlink()
    url = f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    monkeypatch.setenv("APE_JOBS", url)
    with JobStore(url) as store:
        job = fill(store, tuple((one.source, one.mt, text) for one, text, _ in PASSAGES))
        reviews = ReviewStore(store)
        versions = {one.id: one.version for one in reviews.paragraphs(job.id)}
        wanted = [ReviewAction.ACCEPT if number % 3 else ReviewAction.REJECT for number in range(90)]
        decisions = [ReviewDecision(f"p{at}", versions[f"p{at}"], action) for at, action in enumerate(wanted)]
        reviews.decide(job, decisions, author="Anna")
    built = here("finetune", "build", "--reviews", "j", "-o", "data", "--book-from-rows", "10")
    assert built.returncode == 0, built.stderr
    done = here("finetune", "gate", "mine", "--rows", "data.j.reviews.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("90 edits were found")
    assert "  word choice: 30 (+0 -30), 0 pass (+0 -0)" in done.stdout.splitlines()
    assert "  verb form: 60 (+60 -0), 60 pass (+60 -0)" in done.stdout.splitlines()


@pytest.mark.usefixtures("no_engine")
def test_a_score_compares_filter_guards_and_base_with_the_unedited_mt(here: Run, adapter: Path) -> None:
    assert here("finetune", "gate", "mine", "--rows", "rows.jsonl").returncode == 0
    words = ("finetune", "score", "mine", "--rows", "rows.jsonl", "--untuned", 9)
    done = here(*words)
    assert done.returncode == 0, done.stderr
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    printed = {tuple(cell.strip() for cell in line if cell.strip())[1:4] for line in lines[1:]}
    assert printed >= {
        ("do nothing", "90", "0.0%"),
        ("tuned", "90", "66.7%"),
        ("tuned, without the gate", "90", "100.0%"),
        ("best that any gate could do", "90", "66.7%"),
        ("do nothing", "9 of 90", "0.0%"),
        ("untuned", "9 of 90", "0.0%"),
    }
    assert "Δ and p are relative to the unedited MT of the same passages." in done.stdout
    output = json.loads(here(*words, "--json").stdout)
    assert output == json.loads((adapter / "results.json").read_bytes())
    assert output["passages"] == "90 passages, all of rows.jsonl"
    gate = read_card(adapter).gate
    assert gate is not None
    assert gate.fitted_on == "90 passages, all of rows.jsonl"
    card = here("finetune", "export", "mine", "--to", "card", "-o", "card.md")
    assert card.returncode == 0, card.stderr
    assert "On 90 passages, all of rows.jsonl." in (adapter.parent / "card.md").read_text(encoding="utf-8")
    amend_card(adapter, {"gate": gate.model_copy(update={"threshold": 0.99}).model_dump(mode="json")})
    stale = here("finetune", "export", "mine", "--to", "card", "-o", "other.md")
    assert stale.returncode == 2
    assert "measured with another edit filter or format than the card's" in " ".join(stale.stderr.split())
    rows = {(row["system"], row["passages"]): row for row in output["rows"]}
    # Expected: each MT has one wrong word of 14, and the gate leaves that of every third.
    before, after = (rows[name, 90]["cells"][0]["score"] for name in ("do nothing", "tuned"))
    assert (before, after) == (pytest.approx(100 / 14), pytest.approx(100 / 14 / 3))
    assert rows["untuned", 9]["of"] == 90
    assert [cell["p_value"] for cell in rows["untuned", 9]["cells"]] == [1.0, 1.0, 1.0]


@pytest.mark.usefixtures("no_engine", "adapter")
def test_a_prompted_model_gets_a_profile_that_is_read_next_to_its_file(
    here: Run, made: tuple[Path, ServedAdapter], tmp_path: Path
) -> None:
    model = shutil.copy(made[0].with_name("tiny.gguf"), tmp_path)
    words = ("--base", "tiny.gguf", "--rows", "rows.jsonl")
    target = asyncio.run(find_prompted_model(SETTINGS.model_copy(update={"model": str(model)})))
    write_rows(tmp_path / "tiny.drafts.jsonl", [draft(target, *one) for one in PASSAGES])
    done = here("finetune", "gate", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("The filter was written to tiny.profile.json.\n")
    after = asyncio.run(find_prompted_model(SETTINGS.model_copy(update={"model": str(model)})))
    assert after.model.edit_filter is not None
    assert after.model.edit_filter.joins_neighbours
    assert after.model.edit_filter.fitted_on == "90 passages, all of rows.jsonl"
    assert after.model.revision != target.model.revision
    # The drafts do not depend on the filter, so they are found again.
    assert after.cache_key == target.cache_key
    scored = here("finetune", "score", *words, "--json")
    assert scored.returncode == 0, scored.stderr
    rows = {row["system"]: row["edited"] for row in json.loads(scored.stdout)["rows"]}
    assert rows["tiny"] == pytest.approx(2 / 3)
    assert json.loads((tmp_path / "tiny.results.json").read_bytes())["answers"] == after.model.revision


@pytest.mark.usefixtures("no_engine", "adapter")
def test_a_damaged_profile_is_one_sentence(here: Run, made: tuple[Path, ServedAdapter], tmp_path: Path) -> None:
    shutil.copy(made[0].with_name("tiny.gguf"), tmp_path)
    (tmp_path / "tiny.profile.json").write_text('{"format": 3', encoding="utf-8")
    done = here("finetune", "gate", "--base", "tiny.gguf", "--rows", "rows.jsonl")
    assert done.returncode != 0
    assert "tiny.profile.json is no profile of a model" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("no_engine")
def test_a_score_that_can_not_be_saved_is_printed(here: Run, adapter: Path) -> None:
    words = ("finetune", "score", "mine", "--rows", "rows.jsonl")
    assert here(*words).returncode == 0
    before, there = (adapter / "results.json").read_bytes(), {one.name for one in adapter.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        done = here(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.returncode == 2
    assert "Δ and p are relative to the unedited MT" in done.stdout
    assert "mine/results.json can't be written: File too large" in done.stderr
    assert (adapter / "results.json").read_bytes() == before
    assert {one.name for one in adapter.iterdir()} == there


def test_a_missing_draft_is_made_and_stored(here: Run, adapter: Path) -> None:
    drafts = adapter / "drafts.jsonl"
    lines = drafts.read_text(encoding="utf-8").splitlines(keepends=True)
    drafts.write_text("".join(lines[1:]), encoding="utf-8")
    done = here("finetune", "score", "mine", "--rows", "rows.jsonl", "--threads", 1, "--json")
    assert done.returncode == 0, done.stderr
    after = drafts.read_text(encoding="utf-8").splitlines(keepends=True)
    assert after[:-1] == lines[1:]
    question, was = json.loads(after[-1]), json.loads(lines[0])
    assert {name: question[name] for name in ("prompt", "id", "key")} == {
        name: was[name] for name in ("prompt", "id", "key")
    }


def test_drafts_can_be_stored_elsewhere(here: Run, adapter: Path, tmp_path: Path) -> None:
    (adapter / "drafts.jsonl").rename(tmp_path / "kept.jsonl")
    done = here("finetune", "gate", "mine", "--rows", "rows.jsonl", "--drafts", "kept.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert not (adapter / "drafts.jsonl").exists()


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("verb", ["gate", "score"])
def test_an_unknown_base_is_given_as_a_file(
    verb: str, here: Run, adapter: Path, made: tuple[Path, ServedAdapter], tmp_path: Path
) -> None:
    amend_card(adapter, {"base": {**read_card(adapter).base.model_dump(), "model": "tiny"}})
    words = ("finetune", verb, "mine", "--rows", "rows.jsonl")
    lost = here(*words)
    assert (lost.returncode, lost.stdout) == (2, "")
    assert "mine was trained on tiny, which is not in the catalogue." in lost.stderr
    assert "Set a GGUF file of it as the base model." in lost.stderr
    done = here(*words, "--base", made[0].with_name("tiny.gguf"))
    assert done.returncode == 0, done.stderr
    other = make_gguf(make_tiny(tmp_path / "other", seed=5), tmp_path / "other.gguf")
    wrong = here(*words, "--base", other)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "another model. Set tiny as the base model." in wrong.stderr


@pytest.mark.usefixtures("no_engine", "adapter")
@pytest.mark.parametrize("verb", ["gate", "score"])
@pytest.mark.parametrize("message", [{"APE_ENGINE": "vllm", "APE_MODEL": "m"}, {"APE_URL": "http://127.0.0.1:9/v1"}])
def test_another_engine_is_refused_rather_than_ignored(
    verb: str, message: dict[str, str], here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in message.items():
        monkeypatch.setenv(name, value)
    done = here("finetune", verb, "mine", "--rows", "rows.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "scored on the embedded engine, and the settings choose" in done.stderr
    assert "Set engine to embedded" in done.stderr
    monkeypatch.setenv("APE_ENGINE", "embedded")
    monkeypatch.delenv("APE_MODEL", raising=False)
    assert here("finetune", verb, "mine", "--rows", "rows.jsonl").returncode == 0


@pytest.mark.usefixtures("no_engine", "adapter")
@pytest.mark.parametrize("verb", ["gate", "score"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mine"], "Give either --data, a training set, or --rows"),
        (["--rows", "rows.jsonl"], "Give an adapter, or --base with the name or .gguf file of a model"),
        (["mine", "--data", "data", "--rows", "rows.jsonl"], "Give either --data, a training set, or --rows"),
        (["mine", "--rows", "gone.jsonl"], "gone.jsonl can't be read: No such file"),
        (["mine", "--rows", "none.jsonl"], "none.jsonl is empty"),
        (["bare", "--rows", "rows.jsonl"], "The adapter bare can't be used. It has no ape.json"),
        (["unexported", "--rows", "rows.jsonl"], "unexported has no adapter.gguf. Export the adapter"),
    ],
)
def test_bad_input_is_one_sentence(verb: str, words: Sequence[str], sentence: str, here: Run, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").touch()
    (tmp_path / "bare").mkdir()
    shutil.copytree(tmp_path / "mine", tmp_path / "unexported", ignore=shutil.ignore_patterns(GGUF_FILE))
    done = here("finetune", verb, *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("no_engine")
def test_too_few_edits_do_not_change_the_card(here: Run, adapter: Path, tmp_path: Path) -> None:
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "few.jsonl").write_text("".join(lines[:10]), encoding="utf-8")
    before = (adapter / "ape.json").read_bytes()
    done = here("finetune", "gate", "mine", "--rows", "few.jsonl")
    assert (done.returncode, "The drafts have 10 edits" in done.stderr) == (2, True), done.stderr
    assert (adapter / "ape.json").read_bytes() == before
