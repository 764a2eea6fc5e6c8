"""From paragraphs to a training set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ape.errors import InputError
from finetune.data.build import TrainingSet, build_training_set
from finetune.data.dataset import read_dataset, write_dataset
from finetune.data.inputs import BuildInputs
from finetune.data.manifest import make_manifest
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import DataRecipe
from finetune.data.report import write_data_report
from finetune.data.selection import IDENTITY_SUFFIX, filter_by_bleu_percentiles
from finetune.data.sentence_bleu import aggregate_bleu
from finetune.data.token_counter import EstimatedTokenCounter
from tests.finetune.data.sample_text import paragraph, paragraphs


def built(found: Sequence[TrainingParagraph], *, off: Sequence[str] = (), **settings: Any) -> TrainingSet:
    # Without language detection, which takes most of the time.
    recipe = DataRecipe.model_validate({"off": ["language", *off], **settings})
    return build_training_set(found, recipe, counter=EstimatedTokenCounter())


def test_every_paragraph_is_accounted_for() -> None:
    result = built(paragraphs(120, books=12))
    first, *rest = result.funnel.steps
    assert first.came == result.read == 120
    for before, after in zip([first, *rest], rest, strict=False):
        assert after.side == "train" or after.came == before.left
    assert all(result.splits[side] for side in ("train", "dev", "test"))


def test_no_book_and_no_near_repeat_is_on_two_sides() -> None:
    found = paragraphs(120, books=12)
    found += [replace(one, id=f"{one.id}b", book="other_fr") for one in found[::7]]
    found += [replace(one, id=f"{one.id}c", book="third_fr", source=one.source + " Oui.") for one in found[::11]]
    result = built(found, off=["duplicate", "near duplicate"])
    sides = result.splits
    books = [{one.book for one in sides[side]} for side in ("train", "dev", "test")]
    assert not any(one & other for one, other in combinations(books, 2))
    sources = [{one.source.removesuffix(" Oui.") for one in sides[side]} for side in ("train", "dev", "test")]
    assert not any(one & other for one, other in combinations(sources, 2))
    assert next(step for step in result.funnel.steps if step.name == "on both sides").dropped > 0


def test_percentiles_are_of_each_language_pair() -> None:
    french = [paragraph(n) for n in range(100)]
    german = [replace(one, id=f"de{one.id}", source_language="de", mt=one.human) for one in french]
    kept = filter_by_bleu_percentiles([*french, *german], DataRecipe())
    assert Counter(one.pair for one in kept)["de-en"] == 100  # all are alike, so none is at the rim
    scores = sorted(map(aggregate_bleu, french))
    left = [aggregate_bleu(one) for one in kept if one.pair == "fr-en"]
    assert min(left) >= scores[9]
    assert max(left) <= scores[90]
    assert len(left) < 100


def test_a_share_of_the_training_set_is_good_as_it_is() -> None:
    result = built(paragraphs(150, books=10), off=["percentile"], identity_share=0.1)
    identities = [one for one in result.splits["train"] if one.kind == "identity"]
    assert len(identities) == pytest.approx(0.1 * len(result.splits["train"]), abs=1)
    assert all(one.mt == one.human for one in identities)
    assert not any(
        one.id.endswith(IDENTITY_SUFFIX) for one in identities
    )  # there are enough that the person left alone


def test_identities_are_made_of_human_versions_where_none_was_left_alone() -> None:
    found = [paragraph(n, book=f"b{n % 10}_fr") for n in range(150)]
    result = built(found, identity_share=0.2)
    identities = [one for one in result.splits["train"] if one.kind == "identity"]
    assert len(identities) == pytest.approx(0.2 * len(result.splits["train"]), abs=1)
    humans = {one.human for one in found}
    assert all(one.id.endswith(IDENTITY_SUFFIX) and one.mt == one.human in humans for one in identities)
    edited = {one.id for one in result.splits["train"] if one.kind == "edit"}
    spare = [one for one in identities if one.id.removesuffix(IDENTITY_SUFFIX) not in edited]
    assert spare  # those that the percentiles took are used first


def test_a_share_that_the_paragraphs_can_not_give_is_told_with_both_numbers() -> None:
    found = [paragraph(n, split="train") for n in range(40)]  # each is an edit, and can be made an identity once
    result = built(found, off=["percentile"], identity_share=0.8)
    assert Counter(one.kind for one in result.splits["train"]) == {"edit": 40, "identity": 40}
    remark = "Of fr-en, 160 identities were wanted (a share of 0.8), and its paragraphs gave 40"
    assert result.remarks == [f"{remark}: they are 50% of its 80 examples."]
    assert built(found, off=["percentile"], identity_share=0.5).remarks == []


def test_no_share_leaves_no_identity() -> None:
    result = built(paragraphs(80, books=10), identity_share=0)
    assert {one.kind for one in result.splits["train"]} == {"edit"}


def test_what_the_share_of_identities_and_the_sample_take_is_counted() -> None:
    found = [replace(one, split="train") for one in paragraphs(100)]
    result = built(found, off=["percentile"], identity_share=0.1, sample=60)
    steps = {step.name: (step.came, step.dropped, step.left) for step in result.funnel.steps}
    # By hand: 20 are good as they are; 80 edits are nine tenths of 89, so that 9 of the 20 have a place.
    assert steps["identity share"] == (100, 11, 89)
    assert steps["sample"] == (89, 29, 60)
    assert len(result.splits["train"]) == 60
    taken = built(found, off=["percentile"], identity_share=0.1, take={"fr-en": 50}).funnel.steps[-1]
    assert (taken.name, taken.side, taken.left) == ("take", "train", 50)


def test_mt_that_is_all_good_is_refused_by_the_share_that_took_it() -> None:
    with pytest.raises(InputError, match=r"at least 1 are needed: identity share took 30\."):
        built([paragraph(number, edited=False, split="train") for number in range(30)])


def test_each_pair_gives_the_number_that_was_asked_for() -> None:
    french = [replace(one, split="train") for one in paragraphs(100)]
    german = [
        replace(one, id=f"de{one.id}", book="de", source_language="de", split="train")
        for one in paragraphs(100, start=500)
    ]
    dev = [replace(one, book="dev", split="dev") for one in paragraphs(30, start=900)]
    result = built(
        [*french, *german, *dev], off=["percentile"], take={"fr-en": 60, "de-en": 20}, take_dev={"fr-en": 10}
    )
    assert Counter(one.source_language for one in result.splits["train"]) == {"fr": 60, "de": 20}
    assert len(result.splits["dev"]) == 10
    assert Counter(one.kind for one in result.splits["train"])["identity"] == 12  # 15% of 60 and of 20


def test_more_than_there_are_is_refused_with_what_the_filters_took() -> None:
    found = [replace(one, split="train") for one in paragraphs(100)]
    with pytest.raises(InputError, match=r"99 examples of fr-en were requested, .* percentile took \d+"):
        built(found, take={"fr-en": 99})


def test_too_few_are_refused_with_what_the_filters_took() -> None:
    with pytest.raises(InputError, match=r"No paragraph is left of 5: bleu took 5\."):
        built([paragraph(number) for number in range(5)], bleu=99)
    with pytest.raises(InputError, match=r"0 examples .* at least 1 are needed: tokens took 50\."):
        built(paragraphs(50), tokens=5)
    with pytest.raises(InputError, match=r"500 are needed: identity share took 3, percentile took 2\."):
        built(paragraphs(50), fewest=500)


@pytest.mark.parametrize(("take", "there"), [({"fr-en": 99}, 30), ({"de-en": 1}, 0)])
def test_more_of_dev_than_there_are_is_refused(take: dict[str, int], there: int) -> None:
    dev = [replace(one, book="dev", split="dev") for one in paragraphs(30, start=900)]
    train = [replace(one, split="train") for one in paragraphs(50)]
    with pytest.raises(InputError, match=rf"were requested on dev, which has {there}\."):
        built([*train, *dev], take_dev=take)


def test_held_out_sides_are_not_chosen_by_their_answers() -> None:
    found = paragraphs(120, books=12)
    as_they_are = built(found).splits["dev"]
    chosen = built(found, select_held_out=True).splits["dev"]
    assert {one.id for one in chosen} < {one.id for one in as_they_are}


def test_what_is_long_or_repeated_goes_from_train_and_stays_in_dev_and_test() -> None:
    found = []
    for side, start in (("train", 0), ("dev", 100), ("test", 200)):
        own = [replace(one, book=side, split=side) for one in paragraphs(20, start=start)]
        again = replace(own[3], id=f"{side} again")
        nearly = replace(own[5], id=f"{side} nearly", source=own[5].source + " Oui.", mt=own[5].mt + " Yes.")
        long = replace(
            own[7], id=f"{side} long", source=own[7].source * 9, mt=own[7].mt * 9, humans=(("h", own[7].human * 9),)
        )
        found += [*own, again, nearly, long]
    result = built(found, off=["percentile"], tokens=300, identity_share=0)
    steps = {step.name: (step.side, step.dropped) for step in result.funnel.steps}
    assert all(steps[name] == ("train", 1) for name in ("tokens", "duplicate", "near duplicate"))
    assert [len(result.splits[side]) for side in ("dev", "test")] == [23, 23]
    chosen = built(found, off=["percentile"], tokens=300, select_held_out=True)
    assert [len(chosen.splits[side]) for side in ("dev", "test")] == [20, 20]


def test_what_train_has_of_dev_or_test_goes_from_train() -> None:
    train, dev, test = (
        [replace(one, book=side, split=side) for one in paragraphs(10, start=start)]
        for side, start in (("train", 0), ("dev", 100), ("test", 200))
    )
    shared = [replace(one, id=f"{one.id} too", book="train", split="train") for one in (dev[2], test[4])]
    result = built([*shared, *train, *dev, *test], off=["percentile"], identity_share=0)
    assert next(step for step in result.funnel.steps if step.name == "on both sides").dropped == 2
    assert [len(result.splits[side]) for side in ("dev", "test")] == [10, 10]


def test_a_paragraph_that_nobody_translated_is_dropped_and_counted_whatever_is_off() -> None:
    found = paragraphs(20)
    found[4] = replace(found[4], humans=())
    result = built(found, off=["empty", "short", "ratio", "bleu", "percentile"])
    first = result.funnel.steps[0]
    assert (first.name, first.came, first.dropped) == ("untranslated", 20, 1)


def test_at_most_half_of_each_book_can_be_kept() -> None:
    found = [replace(one, split="train") for one in paragraphs(120, books=3)]
    result = built(found, off=["percentile"], book_share=0.5, identity_share=0)
    counts = Counter(one.book for one in result.splits["train"])
    assert set(counts) == {"book0_fr", "book1_fr", "book2_fr"}
    assert max(counts.values()) <= 20


def test_the_same_seed_gives_the_same_manifest_and_another_gives_another(tmp_path: Path) -> None:
    found = paragraphs(80, books=10)
    texts = []
    for seed in (1, 1, 2):
        recipe = DataRecipe(seed=seed, off=("language",))
        result = build_training_set(found, recipe, counter=EstimatedTokenCounter())
        manifest = make_manifest(
            result, inputs=BuildInputs(), recipe=recipe, counter=EstimatedTokenCounter(), licences=["CC0"]
        )
        texts.append(json.dumps(manifest, sort_keys=True))
    assert texts[0] == texts[1] != texts[2]


def test_what_is_written_is_read_again_and_the_report_is_safe(tmp_path: Path) -> None:
    found = paragraphs(60, books=6)
    found[1] = replace(found[1], mt=found[1].mt + " <script>alert(1)</script>")
    recipe = DataRecipe(off=("language", "percentile"))
    result = build_training_set(found, recipe, counter=EstimatedTokenCounter())
    manifest = make_manifest(result, inputs=BuildInputs(), recipe=recipe, counter=EstimatedTokenCounter(), licences=[])
    write_dataset(tmp_path / "set", result.splits, manifest)
    again = read_dataset(tmp_path / "set")
    assert {side: list(again[side]) for side in result.splits} == result.splits
    assert again.manifest["splits"]["train"]["examples"] == len(result.splits["train"])
    write_data_report(tmp_path / "report.html", result, manifest)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count("<article") == 12


def test_stutters_come_on_top_and_are_told(tmp_path: Path) -> None:
    found = paragraphs(120, books=12)
    plain, more = built(found, sample=40), built(found, sample=40, stutter_share=0.2)
    stutters = [one for one in more.splits["train"] if one.kind == "stutter"]
    assert len(plain.splits["train"]) == 40
    assert more.splits["train"][:40] == plain.splits["train"]
    assert len(stutters) == len(more.splits["train"]) - 40 == 10
    assert more.splits["dev"] == plain.splits["dev"]
    recipe = DataRecipe.model_validate({"off": ["language"], "sample": 40, "stutter_share": 0.2})
    manifest = make_manifest(more, inputs=BuildInputs(), recipe=recipe, counter=EstimatedTokenCounter(), licences=[])
    write_data_report(tmp_path / "report.html", more, manifest)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "20% made to stutter" in page


def test_a_pair_of_which_nothing_is_left_is_told_with_what_took_it() -> None:
    with pytest.raises(InputError, match=r"no paragraph of it is left \(tokens took \d+"):
        built(paragraphs(40, books=4), tokens=5, take={"fr-en": 10})
