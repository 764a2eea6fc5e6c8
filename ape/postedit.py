"""Post-edit one passage: ask for a draft, let the guards look at it, ask again, or keep the MT."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from ape.edits import edit_rate, find_edits
from ape.engines.protocol import DEFAULT, Engine, Model, Sampling
from ape.events import Attempt, Done, Found, Listener, ignore
from ape.guards import check
from ape.intake import nothing_to_edit, refuse_unreadable, refuse_what_does_not_fit
from ape.languages import name_of
from ape.segment import Segment
from ape.verdict import Decision, Finding, PostEdit, Severity, Usage
from prompts import Prompt, Question, render_chat

# A second draft at temperature 0 would be the first again, and a nucleus of 0.2 nearly so: an attempt after a
# refusal draws from at least this much.
RETRY_TEMPERATURE = 0.6
RETRY_TOP_P = 0.9
# Characters of MT and draft together. Guards and edits take some 5 ms at this length, and up to 2 s at 20,000.
LONG = 2_000

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Options:
    """How a passage is worked on. Nucleus 0.2 is what PAR3 decoded with."""

    model: str = DEFAULT
    temperature: float = 0.0
    top_p: float = 0.2
    seed: int = 1
    max_attempts: int = 2


async def post_edit(
    segment: Segment, engine: Engine, *, options: Options | None = None, listen: Listener = ignore
) -> PostEdit:
    """Repair the MT, or give it back with the reasons.

    Raises InputError for what can't be worked on and EngineError when the model server fails for good.
    """
    options = options or Options()
    refuse_unreadable(segment)
    model = await engine.model(options.model)
    prompt = render_chat(_question(segment))
    work = _Work(segment, prompt, model)
    if reason := nothing_to_edit(segment):
        work.note(reason, listen)
        kept = Decision.REJECTED if reason.severity is Severity.REJECT else Decision.UNCHANGED
        return await work.finish(segment.mt, kept, listen)
    await refuse_what_does_not_fit(segment, prompt, engine, model)
    for attempt in range(1, options.max_attempts + 1):
        sampling = _sampling(segment, options, attempt)
        listen(Attempt(attempt, sampling.seed, sampling.temperature))
        reply = await engine.ask(prompt, sampling, model=model, listen=listen)
        work.usage += reply.usage
        draft = replace(reply.draft, text=prompt.read(reply.draft.text))
        found = await _aside(len(segment.mt) + len(draft.text), check, segment, draft)
        findings = [replace(finding, attempt=attempt) for finding in found]
        for finding in findings:
            work.note(finding, listen)
        if not any(finding.severity is Severity.REJECT for finding in findings):
            text = _with_outer_space(draft.text, segment.mt)
            return await work.finish(
                text, Decision.UNCHANGED if text == segment.mt else Decision.EDITED, listen
            )
    return await work.finish(segment.mt, Decision.REJECTED, listen)


async def _aside(length: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it here, or in a thread where the texts are so long that other passages would wait for it."""
    return await asyncio.to_thread(work, *args, **kwargs) if length > LONG else work(*args, **kwargs)


@dataclass(slots=True)
class _Work:
    """What has become of one passage so far."""

    segment: Segment
    prompt: Prompt
    model: Model
    findings: tuple[Finding, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def note(self, finding: Finding, listen: Listener) -> None:
        self.findings += (finding,)
        listen(Found(finding))

    async def finish(self, text: str, decision: Decision, listen: Listener) -> PostEdit:
        result = await _aside(len(self.segment.mt) + len(text), self._result, text, decision)
        listen(Done(result))
        return result

    def _result(self, text: str, decision: Decision) -> PostEdit:
        mt = self.segment.mt
        return PostEdit(
            id=uuid.uuid4().hex,
            post_edit=text,
            decision=decision,
            findings=self.findings,
            edits=find_edits(mt, text, language=self.segment.target_language),
            edit_rate=round(edit_rate(mt, text), 4),
            model=self.model.name,
            prompt=self.prompt.fingerprint,
            usage=self.usage,
        )


def _question(segment: Segment) -> Question:
    return Question(
        source=segment.source.strip(),
        mt=segment.mt.strip(),
        source_language=name_of(segment.source_language),
        target_language=name_of(segment.target_language),
        earlier=tuple((pair.source, pair.target) for pair in segment.context),
        # A list of names that do not occur only invites a small model to recite it.
        glossary=tuple((term, wording) for term, wording in segment.glossary if term in segment.source),
        instructions=segment.instructions.strip(),
    )


def _sampling(segment: Segment, options: Options, attempt: int) -> Sampling:
    again = attempt > 1
    length = len(segment.mt)
    non_ascii = sum(character > "\x7f" for character in segment.mt)
    return Sampling(
        temperature=max(options.temperature, RETRY_TEMPERATURE) if again else options.temperature,
        top_p=max(options.top_p, RETRY_TOP_P) if again else options.top_p,
        seed=options.seed + attempt - 1,
        # Twice what the MT can be in tokens: three letters of English, a third of a letter of other scripts.
        max_tokens=64 + 2 * (length - non_ascii) // 3 + 6 * non_ascii,
        max_characters=200 + 2 * length,
    )


def _with_outer_space(text: str, mt: str) -> str:
    lead = mt[: len(mt) - len(mt.lstrip())]
    trail = mt[len(mt.rstrip()) :]
    return lead + text + trail
