"""Post-edit one passage: ask for a draft, let the guards look at it, ask again, or keep the MT."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import ParamSpec, TypeVar

from ape.edits.diff import edit_rate, find_edits
from ape.edits.filter import LOGPROB_ALTERNATIVES, EditFilter, FilterOutcome
from ape.engines.protocol import Engine, Model, Sampling
from ape.engines.window import refuse_window_overflow
from ape.errors import EngineError
from ape.guards import check_draft
from ape.passage.events import (
    AttemptEvent,
    DoneEvent,
    Event,
    FindingEvent,
    Listener,
    RetryEvent,
    TokenEvent,
    ignore_event,
)
from ape.passage.intake import find_skip_reason, refuse_unreadable
from ape.passage.options import Options
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from ape.passage.segment import Draft, Segment
from ape.text.languages import language_name
from prompts import Prompt, Question, render

# A second draft at temperature 0 would be the first again, and a nucleus of 0.2 nearly so: an attempt after a
# refusal draws from at least this much.
RETRY_TEMPERATURE = 0.6
RETRY_TOP_P = 0.9
# Characters of MT and draft together. Guards and edits take some 5 ms at this length, and up to 2 s at 20,000.
THREAD_MIN_CHARACTERS = 2_000

T = TypeVar("T")
P = ParamSpec("P")


async def post_edit(
    segment: Segment, engine: Engine, *, options: Options | None = None, listen: Listener = ignore_event
) -> PostEdit:
    """Repair the MT, or give it back with the reasons.

    Raises InputError for what can't be worked on and EngineError when the model server fails for good.
    """
    options = options or Options()
    refuse_unreadable(segment)
    async with engine.using(options.model) as model:
        prompt = render(model.format, _question(segment))
        work = _PassageRun(segment, prompt, model, engine, options, listen)
        if reason := find_skip_reason(segment):
            work.note(reason)
            return await work.keep_mt(rejected=reason.severity is Severity.REJECT)
        await refuse_window_overflow(segment, prompt, engine, model)
        if prompt.unsaid:
            work.note(_unused_fields_finding(prompt, model))
        if _is_untuned_pair(segment, model):
            work.note(_untuned_pair_finding(segment, model))
        for attempt in range(options.max_attempts):
            passed = await work.draw(attempt * options.candidates)
            if passed:
                return await work.take(choose_candidate(segment.mt, passed))
        return await work.keep_mt(rejected=True)


@dataclass(frozen=True, slots=True)
class DraftCandidate:
    """A draft that no guard refused, as it would stand in the book, and how many warnings there are of it."""

    text: str
    warnings: int
    attempt: int


def choose_candidate(mt: str, candidates: Sequence[DraftCandidate]) -> DraftCandidate:
    """The one with the fewest warnings; then the one nearest to all the others by edit rate, and then to the MT.

    Nearest to the others rather than to the MT: the latter would make every wide draw end in doing nothing.
    """
    if len(candidates) == 1:
        return candidates[0]

    def rank(one: DraftCandidate) -> tuple[int, float, float, int]:
        others = [edit_rate(other.text, one.text) for other in candidates if other is not one]
        return one.warnings, round(fmean(others), 6), edit_rate(mt, one.text), one.attempt

    return min(candidates, key=rank)


async def _run_in_thread_if_long(length: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it here, or in a thread where the texts are so long that other passages would wait for it."""
    return (
        await asyncio.to_thread(work, *args, **kwargs)
        if length > THREAD_MIN_CHARACTERS
        else work(*args, **kwargs)
    )


@dataclass(slots=True)
class _PassageRun:
    """One passage, and what has become of it so far."""

    segment: Segment
    prompt: Prompt
    model: Model
    engine: Engine
    options: Options
    listen: Listener
    findings: tuple[Finding, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def note(self, finding: Finding) -> None:
        self.findings += (finding,)
        self.listen(FindingEvent(finding))

    async def draw(self, before: int) -> list[DraftCandidate]:
        """Ask for the candidates of one attempt at once, after so many drafts; those that pass the guards."""
        numbers = range(before + 1, before + self.options.candidates + 1)
        drawn = await asyncio.gather(*(self._draft(number) for number in numbers), return_exceptions=True)
        failed = [outcome for outcome in drawn if isinstance(outcome, BaseException)]
        grave = [error for error in failed if not isinstance(error, EngineError)]
        if grave or len(failed) == len(drawn):
            raise (grave or failed)[0]
        return [outcome for outcome in drawn if isinstance(outcome, DraftCandidate)]

    async def _draft(self, number: int) -> DraftCandidate | None:
        """Ask for one draft and let the guards look at it; None where they refuse it."""

        def tell(event: Event) -> None:
            self.listen(
                replace(event, attempt=number) if isinstance(event, TokenEvent | RetryEvent) else event
            )

        sampling = draft_sampling(self.segment, self.options, number, gated=self.model.gate is not None)
        self.listen(AttemptEvent(number, sampling.seed, sampling.temperature))
        reply = await self.engine.ask(self.prompt, sampling, model=self.model, listen=tell)
        self.usage += reply.usage
        draft = replace(reply.draft, text=self.prompt.read(reply.draft.text))
        if self.model.gate:
            draft = self._sift(self.model.gate, draft, number)
        length = len(self.segment.mt) + len(draft.text)
        findings = await _run_in_thread_if_long(length, check_draft, self.segment, draft)
        for finding in findings:
            self.note(replace(finding, attempt=number))
        if any(finding.severity is Severity.REJECT for finding in findings):
            return None
        return DraftCandidate(_with_outer_space(draft.text, self.segment.mt), len(findings), number)

    def _sift(self, gate: EditFilter, draft: Draft, number: int) -> Draft:
        """The draft without the edits that its model was not sure enough of."""
        sifted = gate.sift(self.segment, draft)
        if sifted.undone:
            self.note(_undone_edits_finding(sifted, number))
        for loop in sifted.loops:
            message = f"The MT said {loop[:60]!r} again and again, and the model left it so: it is said once."
            self.note(Finding("loop", Severity.WARN, message, number))
        # Where the end of the draft is undone, that it was cut off there says nothing of this text.
        whole = any(edit.span[1] >= len(draft.text) for edit in sifted.undone)
        reason = "stop" if whole else draft.finish_reason
        return replace(draft, text=sifted.text, finish_reason=reason, chances=())

    async def take(self, chosen: DraftCandidate) -> PostEdit:
        """The passage with that draft."""
        same = chosen.text == self.segment.mt
        decision = Decision.UNCHANGED if same else Decision.EDITED
        return await self._finish(chosen.text, decision, chosen.attempt)

    async def keep_mt(self, *, rejected: bool) -> PostEdit:
        """The passage as it was."""
        return await self._finish(
            self.segment.mt, Decision.REJECTED if rejected else Decision.UNCHANGED, attempt=0
        )

    async def _finish(self, text: str, decision: Decision, attempt: int) -> PostEdit:
        result = await _run_in_thread_if_long(
            len(self.segment.mt) + len(text), self._result, text, decision, attempt
        )
        self.listen(DoneEvent(result))
        return result

    def _result(self, text: str, decision: Decision, attempt: int) -> PostEdit:
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
            attempt=attempt,
        )


def _undone_edits_finding(sifted: FilterOutcome, number: int) -> Finding:
    count, first = len(sifted.undone), sifted.undone[0]
    what = "an edit was" if count == 1 else f"{count} edits were"
    message = f"The model was not sure enough: {what} undone, such as {first.before!r} -> {first.after!r}."
    return Finding("gate", Severity.WARN, message, number)


def _unused_fields_finding(prompt: Prompt, model: Model) -> Finding:
    what = " and ".join([*filter(None, [", ".join(prompt.unsaid[:-1])]), prompt.unsaid[-1]])
    message = f"{model.name} was tuned on source and MT alone: {what} of the request were not shown to it."
    return Finding("format", Severity.WARN, message)


def _is_untuned_pair(segment: Segment, model: Model) -> bool:
    """Whether the passage is of a language pair that the model was not tuned for, as far as both are known."""
    pair = (segment.source_language, segment.target_language)
    return bool(model.languages) and "und" not in pair and "-".join(pair) not in model.languages


def _untuned_pair_finding(segment: Segment, model: Model) -> Finding:
    pair = f"{language_name(segment.source_language)} to {language_name(segment.target_language)}"
    known = ", ".join(model.languages)
    message = f"{model.name} was tuned for {known}, and not for {pair}: look at its edits with care."
    return Finding("languages", Severity.WARN, message)


def _question(segment: Segment) -> Question:
    return Question(
        source=segment.source.strip(),
        mt=segment.mt.strip(),
        source_language=language_name(segment.source_language),
        target_language=language_name(segment.target_language),
        earlier=tuple((pair.source, pair.target) for pair in segment.context),
        # A list of names that do not occur only invites a small model to recite it.
        glossary=tuple((term, wording) for term, wording in segment.glossary if term in segment.source),
        instructions=segment.instructions.strip(),
    )


def draft_sampling(segment: Segment, options: Options, number: int, *, gated: bool) -> Sampling:
    """The first draft is drawn as it was asked for; the others, so that they are not the first again."""
    again = number > 1
    length = len(segment.mt)
    non_ascii = sum(character > "\x7f" for character in segment.mt)
    return Sampling(
        temperature=max(options.temperature, RETRY_TEMPERATURE) if again else options.temperature,
        top_p=max(options.top_p, RETRY_TOP_P) if again else options.top_p,
        seed=options.seed + number - 1,
        # Twice what the MT can be in tokens: three letters of English, a third of a letter of other scripts.
        max_tokens=options.max_tokens or 64 + 2 * (length - non_ascii) // 3 + 6 * non_ascii,
        max_characters=200 + 2 * length,
        stop=options.stop,
        alternatives=LOGPROB_ALTERNATIVES if gated else 0,
    )


def _with_outer_space(text: str, mt: str) -> str:
    lead = mt[: len(mt) - len(mt.lstrip())]
    trail = mt[len(mt.rstrip()) :]
    return lead + text + trail
