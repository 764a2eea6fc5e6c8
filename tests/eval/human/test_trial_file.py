"""Trial files: round trip and rejection of modified files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.human.design import TrialDesign, make_trial
from eval.human.trial_file import read_trial, trial_from_json, trial_to_json, write_trial
from tests.eval.human.trial_factory import a_trial


@pytest.mark.parametrize("condition", ["paragraph", "document"])
def test_a_trial_round_trips_through_its_file(tmp_path: Path, condition: str) -> None:
    design = TrialDesign(items=6, condition="document" if condition == "document" else "paragraph", paragraphs=3)
    trial = a_trial(design=design)
    write_trial(trial, tmp_path / "trial.json")
    assert read_trial(tmp_path / "trial.json") == trial
    assert (tmp_path / "trial.json").stat().st_mode & 0o077 == 0


def test_ids_do_not_look_like_numbers() -> None:
    for seed in range(5):
        trial = a_trial(seed=seed, design=TrialDesign(items=40))
        ids = [trial.id, *(item.id for item in trial.items)]
        assert all(name[0].isalpha() and name.isalnum() for name in ids)
        assert len(set(ids)) == len(ids)


def test_a_lone_surrogate_round_trips(tmp_path: Path) -> None:
    outputs = {"mt": ("An odd \ud83d mark",), "tuned": ("No mark\x00 at all\u2028",)}
    trial = make_trial(Corpus((Document("d", outputs, (), ("«\\»",)),)), design=TrialDesign(spam=0))
    write_trial(trial, tmp_path / "trial.json")
    assert read_trial(tmp_path / "trial.json") == trial


def test_an_invalid_trial_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    with pytest.raises(InputError, match="can't be read: No such file"):
        read_trial(path)
    for content, message in (
        ("{", "is not JSON"),
        ("[]", "is not a trial file"),
        ('{"format": "ape-trial/1"}', "is not a valid trial"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            read_trial(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_trial(path)


@pytest.mark.parametrize("what", ["seed", "name", "text", "swapped systems", "passage", "repeats"])
def test_a_modified_trial_is_rejected(what: str) -> None:
    values = json.loads(trial_to_json(a_trial(design=TrialDesign(items=6, repeats=0.3))))
    item = values["items"][0]
    again = next(one for one in values["items"] if one["repeats"])
    changes = {
        "seed": lambda: values.update(seed=2),
        "name": lambda: values.update(name="Another"),
        "text": lambda: item["texts"][0].__setitem__(0, "Another text."),
        "swapped systems": lambda: item["systems"].reverse(),
        "passage": lambda: item.update(passage="nowhere"),
        "repeats": lambda: again.update(repeats="nothing"),
    }
    changes[what]()
    with pytest.raises(InputError, match="was modified"):
        trial_from_json(json.dumps(values))


def test_ids_depend_on_the_whole_trial() -> None:
    one, other = a_trial(), a_trial(raters=("cara",))
    assert one.id != other.id
    assert not {item.id for item in one.items} & {item.id for item in other.items}
    assert replace(one, id="") != one
