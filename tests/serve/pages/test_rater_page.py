from __future__ import annotations

from pathlib import Path

import pytest

from eval.human.sheet import public_sheet, rater_sheet
from tests.ape.reports.browser import Browser, Tab, chromium, find_chromium
from tests.serve.pages.conftest import PagesServer
from tests.serve.pages.synthetic_trial import (
    COUNT,
    FREE,
    LITERAL,
    NOTICE,
    PLACE,
    SAID,
    invented_trial,
    is_wide,
    key_for,
    picked,
    until,
    until_at,
    until_overview,
)

pytestmark = pytest.mark.browser


def test_a_rater_votes_by_keys_alone_closes_the_browser_comes_back_and_finishes(
    pages: PagesServer, browser: Browser, tmp_path: Path
) -> None:
    trial = invented_trial(13)
    link = pages.invite(trial, "Ada")
    with chromium(find_chromium(), tmp_path / "monday") as monday:
        tab = Tab(monday)
        tab.open(link)
        for place in range(10):
            until_at(tab, place + 1)
            assert tab.run("document.activeElement.id") == "place"
            tab.press(key_for(trial, "Ada", place), "s" if place % 2 else "u", "p", "Enter")
        until_at(tab, 11)
        assert tab.run(COUNT) == "10 of 13 voted"
        assert tab.complaints == []
    assert len(pages.trials.votes(trial.id)) == 10
    tab = Tab(browser)  # another one: all is with the server
    tab.open(link)
    for place in range(10, 13):
        until_at(tab, place + 1)
        tab.press(key_for(trial, "Ada", place, LITERAL), "Enter")
    until_overview(tab)
    assert tab.run("document.querySelector('#overview-title').textContent") == "All voted. Thank you!"
    assert tab.complaints == []
    tab.close()
    votes = {vote.item: vote for vote in pages.trials.votes(trial.id, rater="Ada")}
    order = [shown.item.id for shown in rater_sheet(trial, "Ada")]
    assert [votes[item].winner for item in order] == [FREE] * 10 + [LITERAL] * 3
    assert [votes[item].confidence for item in order[:2]] == ["unsure", "sure"]
    assert {votes[item].believed_human for item in order[:10]} == {"first"}


def test_two_raters_at_once_do_not_disturb_each_other(pages: PagesServer, browser: Browser, tmp_path: Path) -> None:
    trial = invented_trial(6, raters=("Ben", "Chloe"))
    wanted = {"Ben": FREE, "Chloe": LITERAL}
    with chromium(find_chromium(), tmp_path) as another:
        tabs = {"Ben": Tab(browser), "Chloe": Tab(another)}
        for name, tab in tabs.items():
            tab.open(pages.invite(trial, name))
            until_at(tab, 1)
        for place in range(6):
            for name, tab in tabs.items():
                tab.press(key_for(trial, name, place, wanted[name]), "Enter")
            for tab in tabs.values():
                until(tab, f"{COUNT} === '{place + 1} of 6 voted'")
        for tab in tabs.values():
            assert tab.complaints == []
        tabs["Ben"].close()
    for name, system in wanted.items():
        assert [vote.winner for vote in pages.trials.votes(trial.id, rater=name)] == [system] * 6
    shown = {(vote.item, vote.first) for vote in pages.trials.votes(trial.id)}
    assert len(shown) == 12  # what one of the two saw as A was B for the other


def test_a_vote_can_be_changed_and_is_still_one(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(3)
    tab.open(pages.invite(trial, "Dora"))
    until_at(tab, 1)
    tab.press(key_for(trial, "Dora", 0, FREE), "Enter")
    until_at(tab, 2)
    tab.press("ArrowLeft")
    until_at(tab, 1)
    assert tab.run("document.querySelector('#voted').checkVisibility()")
    tab.press(key_for(trial, "Dora", 0, LITERAL), "Enter")
    until(tab, f"{PLACE}.startsWith('Passage 2')")
    (vote,) = pages.trials.votes(trial.id)
    assert vote.winner == LITERAL


def test_all_that_can_be_said_is_kept_and_shown_again(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2)
    link = pages.invite(trial, "Emil")
    tab.open(link)
    until_at(tab, 1)
    tab.press("t", "u", "p", "p", "p", "e", " ", "e", " ", "c")
    tab.write("1 2 a b: “quite” <i>good</i>")
    assert picked(tab) == {"choice": "tie", "confidence": "unsure", "believed_human": "both"}
    tab.press("Escape", "Enter")
    until_at(tab, 2)
    (vote,) = pages.trials.votes(trial.id)
    assert (vote.choice, vote.confidence, vote.believed_human) == ("tie", "unsure", "both")
    assert vote.errors == {"first": ("overly literal",), "second": ("overly literal",)}
    assert vote.comment == "1 2 a b: “quite” <i>good</i>"
    tab.open(link)
    until_at(tab, 2)
    tab.press("ArrowLeft")
    assert picked(tab) == {"choice": "tie", "confidence": "unsure", "believed_human": "both"}
    assert tab.run("document.querySelector('#comment').value") == vote.comment
    assert tab.run("document.querySelectorAll('[type=checkbox][name$=error]:checked').length") == 2


def test_keys_typed_into_the_comment_are_text(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2)
    tab.open(pages.invite(trial, "Fay"))
    until_at(tab, 1)
    tab.press("c", *"12abtsupmo?0", "Enter")
    assert tab.run("document.querySelector('#comment').value") == "12abtsupmo?0\n"
    assert picked(tab) == {"choice": None, "confidence": None, "believed_human": None}
    tab.press("Escape")
    assert tab.run("document.activeElement.id") == "place"


def test_keys_can_be_switched_off_and_the_form_still_works_by_keyboard(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2)
    tab.open(pages.invite(trial, "Gus"))
    until_at(tab, 1)
    tab.press("?")
    assert tab.run("document.querySelector('#keys').open")
    tab.run("document.querySelector('#keys-on').click()")
    tab.press("Escape", "1")
    assert picked(tab)["choice"] is None
    tab.run("document.querySelector('[name=choice]').focus()")
    tab.press(" ", "Enter")
    until_at(tab, 2)
    assert [vote.choice for vote in pages.trials.votes(trial.id)] == ["first"]


def test_nothing_is_sent_before_a_choice_is_made(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2, ties=False)
    tab.open(pages.invite(trial, "Hal"))
    until_at(tab, 1)
    tab.press("0", "t", "Enter")
    assert tab.run(SAID) == "Choose first: A, B."
    assert tab.run("document.activeElement.name") == "choice"
    assert not tab.run("document.querySelector('[value=tie]')")
    assert pages.trials.votes(trial.id) == []


def test_a_broken_connection_is_told_and_loses_nothing(pages: PagesServer, browser: Browser) -> None:
    trial = invented_trial(4)
    link = pages.invite(trial, "Ida")
    tab = Tab(browser)
    tab.open(link)
    until_at(tab, 1)
    _connect(tab, offline=True)
    tab.press(key_for(trial, "Ida", 0), "Enter")
    until(tab, f"({NOTICE}).includes('Nothing is lost')")
    assert tab.run(PLACE).startswith("Passage 1 ")  # not on before the server has it
    assert pages.trials.votes(trial.id) == []
    tab.press(key_for(trial, "Ida", 0, LITERAL))  # meanwhile another mind
    _connect(tab, offline=False)
    tab.run("dispatchEvent(new Event('online'))")
    until_at(tab, 2)
    assert tab.run(NOTICE) == ""
    assert [vote.winner for vote in pages.trials.votes(trial.id)] == [LITERAL]
    _connect(tab, offline=True)
    tab.press(key_for(trial, "Ida", 1), "Enter")
    until(tab, f"({NOTICE}) !== ''")
    tab.close()  # with the vote unsent
    again = Tab(browser)
    again.open(link)
    until_at(again, 3)
    until(again, f"{COUNT} === '2 of 4 voted'")
    assert again.complaints == []
    again.close()
    assert [vote.winner for vote in pages.trials.votes(trial.id)] == [LITERAL, FREE]


def test_what_was_begun_is_there_after_the_page_was_closed(pages: PagesServer, browser: Browser, tab: Tab) -> None:
    trial = invented_trial(2)
    link = pages.invite(trial, "Jo")
    first = Tab(browser)
    first.open(link)
    until_at(first, 1)
    first.press("1", "c")
    first.write("Half a thou")
    first.close()
    tab.open(link)
    until_at(tab, 1)
    assert picked(tab)["choice"] == "first"
    assert tab.run("document.querySelector('#comment').value") == "Half a thou"
    assert tab.run(COUNT) == "0 of 2 voted"


def test_a_link_that_was_replaced_meanwhile_is_told_and_the_page_stays(pages: PagesServer, browser: Browser) -> None:
    trial = invented_trial(2)
    tab = Tab(browser)
    tab.open(pages.invite(trial, "Kim"))
    until_at(tab, 1)
    pages.trials.invite(trial.id, "Kim")
    tab.press("1", "Enter")
    until(tab, f"({NOTICE}).includes('A vote was rejected: This link is unknown')")
    assert tab.run(PLACE).startswith("Passage 1 ")
    assert picked(tab)["choice"] == "first"
    tab.close()


@pytest.mark.parametrize("width", [320, 390, 600, 800, 1024, 1440])
def test_nothing_is_wider_than_the_screen(pages: PagesServer, tab: Tab, width: int) -> None:
    trial = invented_trial(8, hostile=True)
    tab.look(width=width, height=800)
    tab.open(pages.invite(trial, f"Lea {width}"))
    until_at(tab, 1)
    tab.press("m")
    assert not is_wide(tab, width)
    beside = "document.querySelector('#first').offsetTop === document.querySelector('#second').offsetTop"
    assert tab.run(beside) is (width > 768)
    tab.press("o")
    assert not is_wide(tab, width)
    tab.press("?")
    assert tab.run("document.querySelector('#keys').getBoundingClientRect().right") <= width


def test_a_thumb_is_enough_on_a_phone(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2)
    tab.look(width=390, height=844)
    tab.open(pages.invite(trial, "Mia"))
    until_at(tab, 1)
    for place in (1, 2):
        tab.click("[name=choice][value=second]")
        tab.click("#save")
        until(tab, f"{COUNT} === '{place} of 2 voted'")
    until_overview(tab)
    assert [vote.choice for vote in pages.trials.votes(trial.id)] == ["second", "second"]
    small = """[...document.querySelectorAll("#vote button, .options label")].filter((one) =>
        one.checkVisibility() && one.getBoundingClientRect().height < 36).length"""
    tab.press("ArrowLeft")
    assert tab.run(small) == 0


def test_text_of_books_and_models_is_never_html(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2, hostile=True)
    tab.open(pages.invite(trial, "Nia <b>bold</b>"))
    until_at(tab, 1)
    item = public_sheet(trial, "Nia <b>bold</b>")["items"][0]
    for marks in (False, True):
        if marks:
            tab.press("m")
            assert tab.run("document.querySelectorAll('mark').length") > 2
        for column, texts in (("source", item["sources"]), ("first", item["a"]), ("second", item["b"])):
            shown = f"[...document.querySelectorAll('#{column} p')].map((one) => one.textContent)"
            assert tab.run(shown) == texts
    assert tab.run("document.title") == trial.name
    assert tab.run("document.querySelectorAll('b, script').length") == 2  # our own two, and nothing bold


def test_only_what_differs_is_marked(pages: PagesServer, tab: Tab) -> None:
    # Of two shortest differences the one that is marked depends on which text is A, and it is either's for one.
    trial = invented_trial(1, raters=("Ola", "Ole"))
    rater = next(name for name in trial.raters if key_for(trial, name, 0, LITERAL) == "1")
    tab.open(pages.invite(trial, rater))
    until_at(tab, 1)
    assert tab.run("document.querySelectorAll('mark').length") == 0
    tab.press("m")
    marked = tab.run("[...document.querySelectorAll('mark')].map((one) => one.textContent)")
    literal, free = (["port", "sleeping", "the", "was"], ["harbour", "asleep", "went on", ":", "today"])  # by hand
    assert sorted(marked) == sorted([*literal, *free])
    tab.press("m")
    assert tab.run("document.querySelectorAll('mark').length") == 0


def test_each_text_says_its_language_and_direction(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(1, language="ar")
    tab.open(pages.invite(trial, "Pia"))
    until_at(tab, 1)
    said = "[...document.querySelectorAll('.texts p')].map((one) => [one.lang, one.dir])"
    assert tab.run(said) == [["ar", "rtl"], ["en", "ltr"], ["en", "ltr"]]
    assert tab.run("document.querySelector('#source-title').textContent") == "Original Arabic"


def test_without_the_original_there_is_no_place_for_it(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(1, bilingual=False, marks=False)
    tab.open(pages.invite(trial, "Quin"))
    until_at(tab, 1)
    assert not tab.run("document.querySelector('#source').checkVisibility()")
    tab.press("m")
    assert tab.run("document.querySelectorAll('mark').length") == 0
    assert not tab.run("document.querySelector('#marks').checkVisibility()")


def test_parts_of_one_text_say_so(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(3, condition="document")
    tab.open(pages.invite(trial, "Ria"))
    until_at(tab, 1)
    assert tab.run(PLACE) == "Passage 1 of 3 · part 1 of 3 of one text"


def test_a_screen_reader_finds_its_way(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(2)
    tab.open(pages.invite(trial, "Sol"))
    until_at(tab, 1)
    tree = tab.call("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node.get("role", {}).get("value"), node.get("name", {}).get("value", ""))
        for node in tree
        if not node.get("ignored")
    ]
    roles = [role for role, _ in named]
    for landmark in ("banner", "main", "form"):
        assert roles.count(landmark) == 1, landmark
    worked = {"button", "radio", "checkbox", "textbox", "group", "region", "progressbar", "link"}
    assert [one for one in named if one[0] in worked and not one[1].strip()] == []
    groups = [name for role, name in named if role == "group"]
    assert groups[0] == "Which translation is better?"
    assert "What is wrong with B? (optional)" in groups
    assert {name for role, name in named if role == "region"} == {"Original French", "Translation A", "Translation B"}
    assert ("radio", "A is better") in named  # its key is for the eye alone
    tab.press("1")
    assert tab.run(SAID) == "A is better"
    assert (
        tab.run("document.querySelector('#said').role || document.querySelector('#said').getAttribute('role')")
        == "status"
    )


def _connect(tab: Tab, *, offline: bool) -> None:
    tab.call("Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1)
