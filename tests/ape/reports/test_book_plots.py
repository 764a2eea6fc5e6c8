from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.jobs.job_paragraph import ParagraphState
from ape.passage.edit import Edit, EditKind
from ape.reports.book_counts import BookCounts, ChapterStatuses, EditRateBin, EditRateSeries
from ape.reports.book_plots import chapter_bars, edit_rate_line, status_parts
from ape.reports.text_pieces import EditSide, split_at_edits, split_at_marks
from tests.ape.reports.report_rows import rejected, row, unfinished


@pytest.mark.parametrize("side", ["mt", "post_edit"])
def test_pieces_joined_give_the_text_back_and_leave_odd_spans_unmarked(side: EditSide) -> None:
    spans = [(4, 8), (-1, 2), (3, 3), (6, 9), (10, 99), (8, 9)]
    edits = [Edit(EditKind.WORD_CHOICE, "", "", span, span) for span in spans]
    cut = list(split_at_edits("abc def ghi", edits, side))
    assert "".join(piece.text for piece in cut) == "abc def ghi"
    # without the space at the end of "def "
    assert [(piece.text, piece.number) for piece in cut if piece.edit] == [("def", 0), ("g", 5)]


@given(st.text(alphabet="a⟦⟧/12 ", max_size=30))
def test_runs_joined_give_the_text_back(text: str) -> None:
    assert "".join(run.text for run in split_at_marks(text)) == text


def test_one_rejected_paragraph_in_ten_thousand_is_still_seen_in_the_bar() -> None:
    edited, refused = status_parts(Counter({"edited": 9_999, "rejected": 1}))
    assert (edited.start, edited.length) == (0, 992)
    assert (refused.start, refused.length) == (992, 8)


def test_bars_are_as_high_as_chapters_are_long() -> None:
    short = ChapterStatuses(0, "", Counter({"edited": 10}))
    long = ChapterStatuses(1, "Low Water", Counter({"edited": 10, "rejected": 10, "waiting": 20}))
    [first, second], top = chapter_bars([short, long])
    assert top == 40
    assert [(part.start, part.length) for part in first.parts] == [(75, 25)]
    assert sum(part.length for part in second.parts) == 100
    assert second.label == "Chapter 2, Low Water: 10 edited, 10 rejected, 20 waiting"


def test_a_thousand_chapters_share_a_hundred_bars() -> None:
    chapters = [ChapterStatuses(i, "", Counter({"edited": 1})) for i in range(1000)]
    found, top = chapter_bars(chapters)
    assert (len(found), top) == (100, 10)
    assert found[-1].label == "Chapters 991 to 1000: 10 edited"


def test_bars_stay_in_the_box_and_a_lone_one_stays_slim() -> None:
    for number in (1, 2, 37, 1000):
        found, _ = chapter_bars([ChapterStatuses(i, "", Counter({"edited": 1})) for i in range(number)])
        assert all(bar.x >= 0 and bar.x + bar.width <= 1000 for bar in found)
        assert all(bar.width <= 120 for bar in found)


def test_no_chapters_are_no_bars() -> None:
    assert chapter_bars([]) == ([], 0)


def test_the_line_is_broken_where_nothing_is_finished() -> None:
    done = EditRateBin("a", 0, paragraphs=2, rated=2, rates=0.5)
    waiting = EditRateBin("b", 2, paragraphs=2)
    drawn = edit_rate_line([done, waiting, done])
    assert len(drawn.points) == len(drawn.strokes) == 2
    assert drawn.ceiling == 0.3
    assert drawn.points[0].label == "Paragraphs 1 to 2: 25.0% changed"
    assert drawn.points[0].y == pytest.approx(100 * (1 - 0.25 / 0.3), abs=0.01)


def test_a_rate_beyond_one_still_fits_the_box() -> None:
    drawn = edit_rate_line([EditRateBin("a", 0, paragraphs=1, rated=1, rates=1.4)])
    assert drawn.ceiling == 2
    assert 0 <= drawn.points[0].y <= 100


@given(st.integers(1, 2000))
def test_stretches_cover_the_book_and_stay_few(paragraphs: int) -> None:
    along = EditRateSeries(max_bins=12)
    one = row("He ran.", "She ran.")
    for _ in range(paragraphs):
        along.add(one)
    found = along.even_bins()
    assert len(found) <= 12
    assert sum(stretch.paragraphs for stretch in found) == paragraphs
    assert all(stretch.rate == pytest.approx(0.25) for stretch in found)
    assert all(stretch.paragraphs == along.width for stretch in found[:-1])


def test_guards_are_counted_by_paragraphs() -> None:
    counts = BookCounts()
    rows = [rejected("a", "too long"), rejected("b", "too long"), unfinished(ParagraphState.SKIPPED), row("a", "a")]
    list(counts.count(rows))
    assert (counts.rejected, counts.warned) == ({"length": 2}, {"names": 2})
    assert counts.present_statuses == ["unchanged", "rejected", "skipped"]
    assert counts.listed_statuses == ["edited", "unchanged", "rejected", "skipped"]


def test_a_finished_row_without_a_result_counts_as_waiting() -> None:
    counts = BookCounts()
    list(counts.count([unfinished(ParagraphState.DONE)]))
    assert counts.statuses == {"waiting": 1}
