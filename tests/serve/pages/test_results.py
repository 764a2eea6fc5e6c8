from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.human.analysis.sequential_looks import sequential_look
from eval.human.answer import RaterAnswer, VoteBuilder
from eval.human.sheet import rater_sheet
from eval.human.trial import Trial
from eval.human.trial_file import assign_ids
from eval.human.trial_store import TrialStore
from eval.human.vote import SHUFFLED_SYSTEM
from eval.human.vote_reader import read_votes
from eval.statistics.confidence_sequence import SequentialLook
from serve.pages import create_pages_app
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import running
from tests.serve.pages.conftest import PagesServer, settings_in
from tests.serve.pages.synthetic_trial import (
    FREE,
    HOSTILE,
    LITERAL,
    hidden_to_the_right,
    invented_trial,
    is_wide,
    until,
)

KEY, OTHER = "the key of an administrator", "the key of a client"


def vote(trials: TrialStore, trial: Trial, rater: str, system: str, *, places: slice = slice(None)) -> None:
    """The rater prefers the system wherever it is shown, and the first text elsewhere."""
    builder = VoteBuilder(trial, rater)
    for shown in rater_sheet(trial, rater)[places]:
        choice = "second" if shown.second == system else "first"
        trials.save(trial.id, builder.build_vote(RaterAnswer(item=shown.item.id, choice=choice, comment=HOSTILE)))


@pytest.fixture
def trial(pages: PagesServer) -> Trial:
    found = invented_trial(20, spam=5)
    pages.trials.add(found)
    return found


def plain(text: str) -> str:
    """The words of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text.partition("<main")[2]))


def test_before_any_vote_the_page_says_so(caller: httpx2.Client, trial: Trial) -> None:
    answer = caller.get(f"/ab/{trial.id}/results")
    assert answer.status_code == 200
    assert "There are no votes on pairs yet." in answer.text
    assert "No rater is invited yet." in answer.text


def test_rates_and_intervals_are_those_of_the_analysis(caller: httpx2.Client, pages: PagesServer, trial: Trial) -> None:
    pages.trials.invite(trial.id, "Ada")
    vote(pages.trials, trial, "Ada", FREE, places=slice(0, 12))
    vote(pages.trials, trial, "Ben", LITERAL, places=slice(0, 6))
    found = measure_preference(pages.trials.votes(trial.id), FREE, LITERAL)
    assert isinstance(found, Preference)
    words = plain(caller.get(f"/ab/{trial.id}/results").text)
    low, high = f"{100 * found.interval.low:.0f}%", f"{100 * found.interval.high:.0f}%"
    assert f"At one planned look {100 * found.rate:.0f}%, from {low} to {high}" in words
    assert f"{found.wins} for {FREE}" in words
    assert "You are looking early." in words
    assert "12 of 25" in words
    assert "6 of 25" in words


def test_what_was_decided_is_told_of_whom_it_was_decided_for(caller: httpx2.Client, pages: PagesServer) -> None:
    trial = invented_trial(65)
    pages.trials.add(trial)
    builder, shown = VoteBuilder(trial, "Ada"), rater_sheet(trial, "Ada")
    for place, one in enumerate(shown):
        choice = "first" if one.first == (FREE if place < 25 else LITERAL) else "second"
        at = f"2026-01-01T{place // 60:02}:{place % 60:02}:00+00:00"
        pages.trials.save(trial.id, builder.build_vote(RaterAnswer(item=one.item.id, choice=choice, at=at)))
    words = plain(caller.get(f"/ab/{trial.id}/results").text)
    assert f"however often you looked: {FREE} was preferred. Later votes point the other way" in words
    assert f"{LITERAL} is preferred" not in words


def test_more_votes_are_suggested_for_one_look_unless_every_item_has_one(
    caller: httpx2.Client, pages: PagesServer
) -> None:
    trial = invented_trial(20)
    pages.trials.add(trial)
    builder, shown = VoteBuilder(trial, "Ada"), rater_sheet(trial, "Ada")

    def cast(places: range) -> str:
        for place in places:
            choice = "first" if shown[place].first == (FREE if place % 5 < 3 else LITERAL) else "second"
            pages.trials.save(trial.id, builder.build_vote(RaterAnswer(item=shown[place].item.id, choice=choice)))
        return plain(caller.get(f"/ab/{trial.id}/results").text)

    assert "more votes would decide it in one planned look." in cast(range(10))
    assert "every item has its first vote: only more items would decide it." in cast(range(10, 20))


def test_with_several_pairs_the_page_says_that_it_is_right_of_all_together(
    caller: httpx2.Client, pages: PagesServer
) -> None:
    two = invented_trial(30)
    third = [replace(item, systems=(LITERAL, "third")) for item in two.items[20:]]
    trial = assign_ids(replace(two, systems=(*two.systems, "third"), items=(*two.items[:20], *third)))
    pages.trials.add(trial)
    vote(pages.trials, trial, "Ada", FREE)
    found = sequential_look(pages.trials.votes(trial.id), FREE, LITERAL, pairs=2)
    assert isinstance(found, SequentialLook)
    words = plain(caller.get(f"/ab/{trial.id}/results").text)
    low = f"from {100 * found.bounds.low:.0f}% to {100 * found.bounds.high:.0f}%"
    assert f"However often you look 100%, {low}" in words
    assert "There are 2 pairs of systems." in words
    assert "There are" not in plain(caller.get(f"/ab/{add(pages, invented_trial(2)).id}/results").text)


def add(pages: PagesServer, trial: Trial) -> Trial:
    pages.trials.add(trial)
    vote(pages.trials, trial, "Ada", FREE)
    return trial


def test_documents_that_are_read_as_one_count_once(caller: httpx2.Client, pages: PagesServer) -> None:
    made = invented_trial(8)
    passages = tuple(replace(one, document=f"d{place // 4}") for place, one in enumerate(made.passages))
    trial = add(pages, assign_ids(replace(made, condition="document", passages=passages)))
    words = plain(caller.get(f"/ab/{trial.id}/results").text)
    assert "from the first vote on each of 2 documents, without ties" in words


def test_all_ties_are_told_as_such(caller: httpx2.Client, pages: PagesServer, trial: Trial) -> None:
    builder = VoteBuilder(trial, "Ada")
    for item in trial.items[:5]:
        pages.trials.save(trial.id, builder.build_vote(RaterAnswer(item=item.id, choice="tie")))
    assert "votes between free and literal are ties." in plain(caller.get(f"/ab/{trial.id}/results").text)


def test_who_prefers_shuffled_text_is_flagged(caller: httpx2.Client, pages: PagesServer, trial: Trial) -> None:
    vote(pages.trials, trial, "Careful", FREE)
    vote(pages.trials, trial, "Careless", SHUFFLED_SYSTEM)
    text = caller.get(f"/ab/{trial.id}/results").text
    flagged = re.findall(r'<tr class="flagged"><th scope="row"><bdi>([^<]*)', text)
    assert "Careless" in flagged
    assert "Careful" not in flagged
    assert "preferred 5 of 5 shuffled texts" in text
    assert "You are looking early." not in text  # everyone has voted on everything


def test_nothing_of_raters_or_tests_becomes_html(caller: httpx2.Client, pages: PagesServer) -> None:
    hostile = invented_trial(2, hostile=True)
    pages.trials.add(hostile)
    vote(pages.trials, hostile, f"Eve {HOSTILE}", FREE)
    for path in (f"/ab/{hostile.id}/results", "/ab"):
        text = caller.get(path).text
        assert "<b>bold</b>" not in text
        assert "document.title" in text
        assert "<script>document.title" not in text


def test_a_page_that_has_not_changed_is_not_sent_again(caller: httpx2.Client, pages: PagesServer, trial: Trial) -> None:
    first = caller.get(f"/ab/{trial.id}/results")
    headers = {"If-None-Match": first.headers["etag"]}
    again = caller.get(f"/ab/{trial.id}/results", headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    vote(pages.trials, trial, "Ada", FREE, places=slice(0, 1))
    assert caller.get(f"/ab/{trial.id}/results", headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_the_votes_can_be_taken_away_and_read_again(
    caller: httpx2.Client, pages: PagesServer, trial: Trial, tmp_path: Path, kind: str
) -> None:
    vote(pages.trials, trial, "Ada", FREE)
    answer = caller.get(f"/ab/{trial.id}/votes.{kind}")
    assert answer.headers["content-disposition"] == f'attachment; filename="votes.{kind}"'
    path = tmp_path / f"votes.{kind}"
    path.write_bytes(answer.content)
    key = lambda one: one.item  # noqa: E731
    assert sorted(read_votes(path, trial), key=key) == sorted(pages.trials.votes(trial.id), key=key)


@pytest.mark.parametrize("path", ["/ab/nothing/results", "/ab/nothing/votes.csv", "/ab/x%00/results"])
def test_a_test_that_is_not_there_is_a_404(caller: httpx2.Client, path: str) -> None:
    answer = caller.get(path)
    assert answer.status_code == 404
    assert "There is no trial" in answer.text


def test_the_list_has_every_test(caller: httpx2.Client, pages: PagesServer, trial: Trial) -> None:
    vote(pages.trials, trial, "Ada", FREE, places=slice(0, 3))
    text = caller.get("/ab").text
    assert f'href="/ab/{trial.id}/results"' in text
    assert 'href="/ab"' in caller.get("/evaluation").text


def test_new_votes_are_shown_as_they_come(tab: Tab, pages: PagesServer, trial: Trial) -> None:
    tab.open(f"{pages.address}/ab/{trial.id}/results")
    until(tab, "document.querySelector('#live').textContent.startsWith('Live')")
    vote(pages.trials, trial, "Ada", FREE, places=slice(0, 9))
    tab.run("document.dispatchEvent(new Event('visibilitychange'))")  # or it would look only after five seconds
    until(tab, "document.querySelector('#main').textContent.includes('9 of 25')")
    until(tab, "document.querySelector('#live').textContent.startsWith('Live')")
    for width in (320, 390, 1024):
        tab.look(width=width)
        assert not is_wide(tab, width)
    rows = tab.run("[...document.querySelectorAll('.pair dd')].map((row) => row.getBoundingClientRect().height)")
    assert max(rows) < 70  # two lines, without a gap around the swatch of an interval


def test_on_a_phone_the_flags_are_in_sight(tab: Tab, pages: PagesServer, trial: Trial) -> None:
    vote(pages.trials, trial, "Careless", SHUFFLED_SYSTEM)
    tab.look(width=390, height=844)
    for path in (f"/ab/{trial.id}/results", "/ab"):
        tab.open(f"{pages.address}{path}")
        assert not hidden_to_the_right(tab)
    tab.look(width=1024)
    assert tab.run("getComputedStyle(document.querySelector('td')).display") == "table-cell"


def test_when_the_service_is_gone_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    tab, trial = Tab(browser), invented_trial(2)
    settings = settings_in(tmp_path)
    with TrialStore(settings.jobs_url) as trials:
        trials.add(trial)
        with running(create_pages_app(settings, trials)) as address:
            tab.open(f"{address}/ab/{trial.id}/results")
            until(tab, "document.querySelector('#live').textContent.startsWith('Live')")
        tab.run("document.dispatchEvent(new Event('visibilitychange'))")
        until(tab, "document.querySelector('#live').textContent.includes('reached')")
    tab.close()


# --- behind a key ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesServer]:
    settings = settings_in(tmp_path_factory.mktemp("locked"), api_keys=(OTHER,), admin_keys=(KEY,))
    with TrialStore(settings.jobs_url) as trials, running(create_pages_app(settings, trials)) as address:
        yield PagesServer(trials, settings, address)


def test_without_the_key_nothing_is_told(locked: PagesServer) -> None:
    trial = invented_trial(2)
    link = locked.invite(trial, "Ada")
    with httpx2.Client(base_url=locked.address) as client:
        for path in ("/ab", "/compare", f"/ab/{trial.id}/results", f"/ab/{trial.id}/votes.jsonl", "/compare/x"):
            assert client.get(path).status_code == 401, path
            assert client.get(path, headers={"Authorization": f"Bearer {OTHER}"}).status_code == 403, path
            allowed = client.get(path, headers={"Authorization": f"Bearer {KEY}"})
            assert allowed.status_code == (404 if path == "/compare/x" else 200), path
            led = client.get(path, headers={"Accept": "text/html"})
            assert (led.status_code, led.headers["location"]) == (303, f"/login?to={path}")
        assert client.get(link.removeprefix(locked.address)).status_code == 200  # a rater's link is a key


@pytest.mark.parametrize("key", ["", "wrong", "ключ", "a\r\nb", "x" * 9000])
def test_a_wrong_key_starts_no_session(locked: PagesServer, key: str) -> None:
    with httpx2.Client(base_url=locked.address) as client:
        answer = client.post("/login", data={"key": key, "to": "/ab"})
        assert answer.status_code == 401
        assert "That key is not valid" in answer.text
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example", "/\\evil.example", "/ab\r\nX: y", ""])
def test_the_login_leads_to_no_other_site(locked: PagesServer, to: str) -> None:
    with httpx2.Client(base_url=locked.address) as client:
        answer = client.post("/login", data={"key": KEY, "to": to})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_more_than_a_key_is_not_read(locked: PagesServer) -> None:
    with httpx2.Client(base_url=locked.address) as client:
        assert client.post("/login", content=b"key=" + b"x" * 20_000).status_code == 413


def test_a_browser_logs_in_once_and_is_redirected_back(locked: PagesServer, browser: Browser) -> None:
    trial = invented_trial(2)
    locked.trials.add(trial)
    tab = Tab(browser)
    tab.open(f"{locked.address}/ab/{trial.id}/results")
    assert tab.run("document.querySelector('h1').textContent") == "Log in"
    tab.write(KEY)
    tab.leave("document.querySelector('main button').click()")
    assert tab.run("document.querySelector('h1').textContent") == "The harbour, twice"
    assert tab.run("document.cookie") == ""  # out of reach of scripts
    tab.open(f"{locked.address}/ab")
    assert tab.run("document.querySelector('tbody a').textContent") == "The harbour, twice"
    tab.close()
