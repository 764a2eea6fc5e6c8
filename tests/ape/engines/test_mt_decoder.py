"""Decoding from the MT writes what llama.cpp's server writes, on the real model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ape.engines import Sampling
from ape.engines import llama_library as library
from ape.engines.draft_text import DraftText
from ape.engines.embedded import EmbeddedEngine, embedded_engine
from ape.engines.mt_decoder import MtDecoder
from ape.engines.mt_proposals import BatchTimes
from ape.engines.protocol import Reply
from ape.passage.events import ignore_event
from prompts import CHAT, SEP, Prompt, Question

SAMPLING = Sampling(temperature=0, top_p=0.2, seed=1, max_tokens=60, max_characters=900, alternatives=3)
LONG = "The old boatman puts down his oar and looked at the shore. Nobody was waiting for her."
PASSAGES = {
    "edited": ("Personne ne dit rien. Elle sortit.", "Nobody said nothing. She went out."),
    "short": ("Il pleut.", "It rain today."),
    "characters in several tokens": ("他笑了。“走吧，小梅。”", "He laughed. “走吧, 小梅龘.”"),
    "longer than its draft": ("Oui.", f"{LONG} {LONG}"),
    "copied": ("Elle posa sa lanterne et tourna la clef.", "She put down her lantern and turned the key."),
}


def rendered(name: str) -> Prompt:
    return CHAT.render(Question(*PASSAGES[name], "French", "English"))


async def draft(engine: EmbeddedEngine, prompt: Prompt, sampling: Sampling = SAMPLING) -> Reply:
    return await engine.ask(prompt, sampling, model=(await engine.models())[0], listen=ignore_event)


def engine_on(file: Path, *, from_mt: bool, **other: Any) -> Any:
    return embedded_engine(file, name="tiny", window=1024, threads=1, from_mt=from_mt, **{"concurrency": 1, **other})


async def both(file: Path, prompts: list[Prompt], sampling: Sampling = SAMPLING) -> list[tuple[Reply, Reply]]:
    """The replies of the decoder and of the server."""
    found = []
    for from_mt in (True, False):
        async with engine_on(file, from_mt=from_mt) as engine:
            found.append([await draft(engine, prompt, sampling) for prompt in prompts])
            assert bool(engine.decoding_counts.written) == from_mt
    return list(zip(*found, strict=True))


def same_but_for_near_ties(ours: Reply, other: Reply) -> bool:
    """Whether the tokens are the same up to one that was hardly likelier than another.

    Batches of another size round differently.
    """
    for one, two in zip(ours.draft.logprobs, other.draft.logprobs, strict=False):
        if one.text != two.text:
            return dict(one.alternatives)[one.text] - dict(one.alternatives).get(two.text, -9.0) < 0.5
    return ours.draft.text == other.draft.text


async def test_drafts_and_usage_are_those_of_the_server(smollm2: Path) -> None:
    for name, (ours, server) in zip(PASSAGES, await both(smollm2, [*map(rendered, PASSAGES)]), strict=True):
        assert ours.draft.text == server.draft.text, name
        assert (ours.draft.finish_reason, ours.usage) == (server.draft.finish_reason, server.usage), name
        joined = "".join(token.text for token in ours.draft.logprobs)
        assert joined.encode(errors="surrogateescape").decode() == ours.draft.text, name
        for token in ours.draft.logprobs:
            assert len(token.alternatives) == 3
            assert token.alternatives[0] == (token.text, token.logprob)
        # The server does not report tokens that it held back.
        last, theirs = ours.draft.logprobs[-1], server.draft.logprobs[-1]
        assert last.text == theirs.text, name
        assert last.logprob == pytest.approx(theirs.logprob, abs=0.4), name


async def test_a_text_prompt_is_continued_alike(smollm2: Path) -> None:
    prompts = [SEP.render(Question(*passage, "French", "English")) for passage in PASSAGES.values()]
    empty = replace(prompts[0], mt=replace(prompts[0].mt, text=""))
    for ours, server in await both(smollm2, [*prompts, empty], replace(SAMPLING, max_tokens=24)):
        assert (ours.draft.text, ours.usage) == (server.draft.text, server.usage)


STORY = "Once upon a time there was a girl who lived in a small house near the forest. Every day she"


class KnownTimes(BatchTimes):
    """Times that a busy machine does not change."""

    def measured(self, tokens: int, seconds: float) -> None:
        """Ignore it."""


@pytest.fixture
def decoder(smollm2: Path) -> Iterator[MtDecoder]:
    """The decoder alone, as the model then repeats exactly what is proposed."""
    decoder = MtDecoder(smollm2, window=512, threads=1, sequences=2, times=KnownTimes())
    yield decoder
    decoder.close()


async def continued(
    decoder: MtDecoder, unedited: str, *, stop: tuple[str, ...] = (), tokens: int = 50
) -> tuple[Reply, list[str]]:
    sent: list[str] = []
    text = DraftText(stop=stop, max_tokens=tokens, max_characters=900, send=sent.append)
    prompt, proposed = decoder.tokens(STORY), decoder.proposals(unedited)
    return await decoder.decode(prompt, proposed, text, alternatives=3, shared=None), sent


async def test_a_draft_that_is_proposed_whole_takes_few_batches_and_stays_the_same(decoder: MtDecoder) -> None:
    plain, _ = await continued(decoder, "")
    assert (decoder.counts.proposed, decoder.counts.written) == (0, 50)
    before = decoder.counts.batches
    proposed, sent = await continued(decoder, plain.draft.text)
    assert same_but_for_near_ties(proposed, plain)
    assert "".join(sent) == proposed.draft.text
    assert decoder.counts.accepted >= 40
    assert decoder.counts.batches - before <= 6


async def test_a_word_of_the_proposal_that_is_not_the_models_own_is_replaced(decoder: MtDecoder) -> None:
    plain, _ = await continued(decoder, "")
    words = plain.draft.text.split(" ")
    words[9] = "crocodile"
    edited, _ = await continued(decoder, " ".join(words))
    assert same_but_for_near_ties(edited, plain)
    assert "crocodile" not in edited.draft.text
    assert 0 < decoder.counts.accepted < decoder.counts.proposed


async def test_a_stop_string_within_an_accepted_run_ends_the_draft(decoder: MtDecoder) -> None:
    plain, _ = await continued(decoder, "")
    word = plain.draft.text.split(" ")[6]
    stopped, sent = await continued(decoder, plain.draft.text, stop=(word,))
    assert "".join(sent) == stopped.draft.text == plain.draft.text.partition(word)[0]
    assert "".join(token.text for token in stopped.draft.logprobs).startswith(stopped.draft.text)
    assert stopped.draft.finish_reason == "stop"


async def test_the_limit_on_tokens_ends_a_draft_within_an_accepted_run(decoder: MtDecoder) -> None:
    plain, _ = await continued(decoder, "")
    limited, _ = await continued(decoder, plain.draft.text, tokens=9)
    assert (limited.usage.completion_tokens, limited.draft.finish_reason) == (9, "length")
    assert plain.draft.text.startswith(limited.draft.text)
    again, _ = await continued(decoder, plain.draft.text)
    assert same_but_for_near_ties(again, plain)


async def test_each_of_two_instructions_is_read_once(decoder: MtDecoder) -> None:
    """Passages of two languages take turns, and each finds the beginning that it shares with the one before."""
    beginnings = [f"{word} " * 60 for word in ("rain", "snow")]
    for number in range(6):
        text = DraftText(stop=(), max_tokens=2, max_characters=900, send=lambda _: None)
        prompt = decoder.tokens(f"{beginnings[number % 2]} {number}")
        await decoder.decode(prompt, (), text, alternatives=0, shared=None)
    assert decoder.counts.read < 3 * len(prompt)


async def test_several_passages_at_once_get_the_drafts_they_get_alone(smollm2: Path) -> None:
    prompts = [*map(rendered, PASSAGES)]
    async with engine_on(smollm2, from_mt=True, concurrency=4) as engine:
        alone = [await draft(engine, prompt) for prompt in prompts]
        together = await asyncio.gather(*(draft(engine, prompt) for prompt in prompts * 2))
    assert all(map(same_but_for_near_ties, together, alone * 2))


async def test_a_cancelled_passage_is_dropped_and_the_others_go_on(smollm2: Path, until: Callable[..., Any]) -> None:
    async with engine_on(smollm2, from_mt=True, concurrency=2) as engine:
        expected = (await draft(engine, rendered("copied"))).draft.text
        endless = replace(SAMPLING, max_tokens=400, max_characters=100_000)
        story = SEP.render(Question("Il était une fois", "Once upon a time " * 10, "French", "English"))
        task = asyncio.create_task(draft(engine, story, endless))
        await until(lambda: engine._drafts.busy == 1)
        other = asyncio.create_task(draft(engine, rendered("copied")))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await other).draft.text == expected
        await until(lambda: engine._drafts.busy == 0)


async def test_sampled_drafts_and_long_passages_go_to_the_server(smollm2: Path) -> None:
    async with engine_on(smollm2, from_mt=True) as engine:
        await draft(engine, rendered("short"), replace(SAMPLING, temperature=0.6))
        assert engine.decoding_counts.written == 0
        room = CHAT.render(Question("Oui.", "Yes, it rains here. " * 60, "French", "English"))
        assert (await draft(engine, room, replace(SAMPLING, max_tokens=700))).draft.text
        assert engine.decoding_counts.written == 0


async def test_another_version_of_the_library_means_plain_decoding(
    smollm2: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(library._CONTEXT_DEFAULTS, 0, 513)
    library._library.cache_clear()
    with caplog.at_level(logging.WARNING, logger="ape.engines"):
        async with engine_on(smollm2, from_mt=True) as engine:
            replies = [await draft(engine, rendered("short")) for _ in range(2)]
    library._library.cache_clear()
    assert replies[0].draft.text
    assert [record.getMessage() for record in caplog.records] == [
        "Drafts are written token by token, which takes longer: This version of xllamacpp has another C interface. "
        "Install the version in constraints.txt."
    ]
