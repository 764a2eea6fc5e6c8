"""The mark-up: spans, plain text, and issues by line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.linguistics.bwb.markup import AnnotationIssue, BwbMarkup, BwbQuotation, BwbSpan, parse_markup, read_markup
from eval.linguistics.coreference.bwb_clusters import clusters_from_markup
from eval.linguistics.coreference.scorers import conll_f1


def test_entities_pronouns_and_omissions_are_spans_of_the_plain_text() -> None:
    marked = parse_markup(["<PER, T, 1>{Mira} lost <O, 1>{her} <VEH, N, 2>{cart}; <P, 1>{she} wept."])
    assert marked.lines == ("Mira lost her cart; she wept.",)
    assert marked.spans == (
        BwbSpan(0, 0, 4, "entity", "1", "PER", True),
        BwbSpan(0, 10, 13, "omitted", "1"),
        BwbSpan(0, 14, 18, "entity", "2", "VEH", False),
        BwbSpan(0, 20, 23, "pronoun", "1"),
    )
    assert marked.issues == ()


def test_spans_nest() -> None:
    marked = parse_markup(["<ORG, N, 4>{the guild of <GPE, T, 3>{Orlen}} met"])
    assert [marked.text_of(span) for span in marked.spans] == ["the guild of Orlen", "Orlen"]
    assert marked.issues == ()


def test_a_quotation_may_span_lines_and_its_inner_spaces_are_mark_up() -> None:
    marked = parse_markup([r'He said <Q, 5> "Go, <PER, T, 1>{Mira}.', r'Now!" <\Q> and left.'])
    assert marked.lines == ('He said "Go, Mira.', 'Now!" and left.')
    assert marked.quotations == (BwbQuotation("5", 0, 8, 1, 5),)
    assert marked.issues == ()


@pytest.mark.parametrize(
    ("line", "text", "column", "what"),
    [
        ("<P,1>{she} ran", "she ran", 1, "is not spaced as <P, 1>"),
        ("so <P, 1>she} ran", "so she ran", 10, "no opening brace after <P, 1>"),
        ("<PER, 5>{Mira} ran", "Mira ran", 1, "doesn't say whether it is terminology"),
        ("<PER, P, 5>{Mira} ran", "Mira ran", 1, "has 'P' where T or N should be"),
        ("<O, 1>{her}cart", "hercart", 12, "no space between a mention and the word after it"),
        ("<PERS, T, 1>{Mira} ran", "Mira ran", 1, "is not a tag"),
        ("<per, T, 1>{Mira} ran", "Mira ran", 1, "should begin with PER"),
        ("<0, 1>{her} cart", "her cart", 1, "should begin with O"),
        ("<P, x>{she} ran", "she ran", 1, "has no entity number"),
        ("<P, 1> she ran", " she ran", 1, "marks nothing"),
        ("<P, 1>{she ran", "she ran", 1, "never closed"),
        ("she} ran", "she} ran", 4, "without an opening one"),
        ("{she} ran", "{she} ran", 1, "braces without a tag"),
        ("{she ran", "{she ran", 1, "a brace without a tag"),
        ("1 < 2", "1 < 2", 3, "outside any tag"),
        ("a <b> c", "a <b> c", 3, "is not a tag"),
        (r"Go! <\Q>", "Go!", 4, "closes no quotation"),
        ("<Q, 1> Go!", "Go!", 1, "never closed"),
        ("<Q, 1> Go! </Q>", "Go!", 11, r"should be <\Q>"),
        ("<PER, T, 1>{Mira} saw <ORG, T, 1>{Orlen}", "Mira saw Orlen", 23, "entity 1 is ORG here and PER earlier"),
    ],
)
def test_every_mistake_is_an_issue_and_no_text_is_lost(line: str, text: str, column: int, what: str) -> None:
    marked = parse_markup(["all well", line])
    assert marked.lines[1] == text
    (issue,) = marked.issues
    assert (issue.line, issue.column) == (2, column)
    assert what in issue.message


@pytest.mark.parametrize("line", ["so <P, 1>she} ran", "<0, 1>{she} ran", "<P,1>{she} ran", "<P, 1>{she"])
def test_a_malformed_tag_with_one_interpretation_is_accepted(line: str) -> None:
    (span,) = (marked := parse_markup([line])).spans
    assert (marked.text_of(span), span.entity) == ("she", "1")


# --- generated mark-up -------------------------------------------------------------------------------------------

_WORDS = st.text(
    st.characters(blacklist_characters="<>{}\n\r", blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=8
)


@st.composite
def _tree(draw: st.DrawFn, depth: int = 2) -> tuple[str, str, list[tuple[int, int, str, str]]]:
    """Mark-up, its plain text, and its spans: start, end, kind, entity."""
    line, text, spans = "", "", []
    for _ in range(draw(st.integers(0, 3))):
        line, text = (side + words for words in [draw(_WORDS)] for side in (line, text))
        if not depth:
            continue
        inner_line, inner, inside = draw(_tree(depth - 1))
        kind, tag = draw(st.sampled_from([("entity", "LOC, N"), ("pronoun", "P"), ("omitted", "O")]))
        entity = str(draw(st.integers(1, 9)))
        start = len(text)
        line += f"<{tag}, {entity}>{{{inner_line}}}"
        text += inner
        spans += [(start, len(text), kind, entity), *((start + a, start + b, k, e) for a, b, k, e in inside)]
    return line, text, spans


@settings(max_examples=60, deadline=None)
@given(_tree())
def test_generated_mark_up_is_parsed_to_its_text_and_spans(
    tree: tuple[str, str, list[tuple[int, int, str, str]]],
) -> None:
    line, text, spans = tree
    marked = parse_markup([f"<Q, 7> {line} <\\Q>", line])
    assert marked.lines == (text, text)
    found = sorted((span.start, span.end, span.kind, span.entity) for span in marked.spans if span.line == 1)
    assert found == sorted(spans)
    assert marked.quotations == (BwbQuotation("7", 0, 0, 0, len(text)),)
    assert {issue.message for issue in marked.issues} <= {"no space between a mention and the word after it"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("<>{}\\/QPO, 1ab"), max_size=25), max_size=4))
def test_any_text_is_parsed_to_the_end(lines: list[str]) -> None:
    marked = parse_markup(lines)
    assert len(marked.lines) == len(lines)
    for span in marked.spans:
        assert 0 <= span.start <= span.end <= len(marked.lines[span.line])
    for issue in marked.issues:
        assert 1 <= issue.line <= len(lines)
        assert 1 <= issue.column <= len(lines[issue.line - 1]) + 1


# --- the sample --------------------------------------------------------------------------------------------------


def _sample(folder: Path, language: str) -> BwbMarkup:
    return read_markup(folder / "bwb_book0_0" / f"coref_sample.{language}.an.txt")


def test_all_ten_issues_of_the_sample_are_found(shared_data: Path) -> None:
    english, chinese = _sample(shared_data, "en"), _sample(shared_data, "zh")
    # Found by reading the two files.
    assert [(issue.line, issue.column) for issue in english.issues] == [
        (1, 74), (2, 11), (4, 26), (5, 1), (5, 35), (5, 98), (7, 9),
    ]  # fmt: skip
    assert [(issue.line, issue.column) for issue in chinese.issues] == [(6, 8), (7, 8), (7, 34)]
    assert str(chinese.issues[2]) == "line 7, column 34: no opening brace after <PER, T, 1>"


def test_the_sample_without_mark_up_is_the_chapter_except_two_spaces(shared_data: Path) -> None:
    folder = shared_data / "bwb_book0_0"
    for language, name, differing in (("en", "ref_re.txt", 2), ("zh", "chs_re.txt", 0)):
        plain = (folder / name).read_text(encoding="utf-8").splitlines()[:7]
        parsed = [line.strip() for line in _sample(shared_data, language).lines]
        different = [(ours, line) for ours, line in zip(parsed, plain, strict=True) if ours != line]
        assert len(different) == differing
        assert all(ours == line.replace("her head", "herhead").replace("her acc", "heracc") for ours, line in different)


def test_mark_up_gives_clusters_for_the_scorers(shared_data: Path) -> None:
    clusters = clusters_from_markup(_sample(shared_data, "en"))
    assert sorted(map(len, clusters)) == [1, 1, 1, 1, 2, 14]  # 20 mentions of 6 entities
    assert conll_f1([(clusters, clusters)]) == 1


def test_an_issue_counts_lines_and_columns_from_1() -> None:
    assert str(AnnotationIssue(3, 7, "no brace")) == "line 3, column 7: no brace"
