"""Choice of an annotator for a language, and the error if there is none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.linguistics.annotators import (
    CachedAnnotator,
    NoAnnotatorError,
    annotator_for,
    use_annotation_cache,
    use_annotator,
)
from eval.linguistics.annotators.spacy_model import SpacyAnnotator, installed_models


@pytest.mark.parametrize(("language", "prefer", "name"), [("en", "textblob", "textblob"), ("zh-CN", "jieba", "jieba")])
def test_languages_that_need_no_download(language: str, prefer: str, name: str) -> None:
    found = annotator_for(language, prefer=prefer)
    assert found.name.startswith(name)
    assert found.language == language[:2]


@pytest.mark.parametrize(
    ("language", "prefer", "part"),
    [
        ("tlh", None, "for the language 'tlh'"),
        ("en", "en_core_web_none", "called 'en_core_web_none'"),
        ("en", "jieba", "called 'jieba'"),
    ],
)
def test_a_missing_annotator_is_an_error_with_a_remedy(language: str, prefer: str | None, part: str) -> None:
    with pytest.raises(NoAnnotatorError, match=part) as error:
        annotator_for(language, prefer=prefer)
    assert isinstance(error.value, InputError)
    assert "spacy download" in str(error.value)


def test_annotators_are_cached_inside_the_context(tmp_path: Path) -> None:
    with use_annotation_cache(tmp_path):
        annotator = annotator_for("en", prefer="textblob")
        assert isinstance(annotator, CachedAnnotator)
        assert annotator.folder == tmp_path
    assert not isinstance(annotator_for("en", prefer="textblob"), CachedAnnotator)


def test_without_spacy_no_model_is_found() -> None:
    if find_spec("spacy") is not None:
        pytest.skip("spaCy is installed here")
    assert installed_models("en") == ()


def test_a_spacy_pipeline_gives_annotations() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Anna’s"}])
    found = SpacyAnnotator("en_blank", pipeline).annotate(["Anna’s dog ran.  It barked."])[0]
    assert [one.text for one in found.entities] == ["Anna"]
    assert [found.tokens[place].text for place in found.sentences] == ["Anna", "It"]


def test_a_preferred_annotator_is_used_for_its_languages_only() -> None:
    with use_annotator("literary"):
        assert annotator_for("en").name.startswith("literary")
        assert annotator_for("en", prefer="textblob").name.startswith("textblob")
        assert not annotator_for("zh").name.startswith("literary")
    assert not annotator_for("en").name.startswith("literary")


def test_an_unknown_preferred_annotator_is_refused() -> None:
    with pytest.raises(NoAnnotatorError, match="called 'litarary'"), use_annotator("litarary"):
        pass


def test_a_folder_with_a_spacy_model_names_its_language_and_version(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    (tmp_path / "meta.json").write_text('{"lang": "en", "name": "tiny", "version": "1.0"}', encoding="utf-8")
    found = annotator_for("en", prefer=str(tmp_path))
    assert found.language == "en"
    assert found.name.endswith("/en_tiny-1.0")


def test_a_spacy_folder_without_spacy_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    if find_spec("spacy") is not None:
        pytest.skip("spaCy is installed here")
    (tmp_path / "meta.json").write_text('{"lang": "en", "name": "tiny", "version": "1.0"}', encoding="utf-8")
    with pytest.raises(NoAnnotatorError, match=r"ape-books\[spacy\]"):
        annotator_for("en", prefer=str(tmp_path))
