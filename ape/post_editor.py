"""Post-edit one passage: request a draft, check it with the guards, retry, or keep the MT."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import ParamSpec, TypeVar

from ape.edits.conventions import keep_conventions
from ape.edits.diff import edit_rate, find_edits
from ape.edits.filter import LOGPROB_ALTERNATIVES, EditFilter, FilterOutcome
from ape.engines.protocol import Engine, Model, Sampling
from ape.engines.window import refuse_window_overflow
from ape.errors import EngineError
from ape.guards import check_draft
from ape.guards.messages import quote
from ape.passage.cast_lines import cast_within_budget, known_pronouns
from ape.passage.edit import EditKind
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
from ape.passage.options import Options, SamplingOptions, check_bounds, option_values
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from ape.passage.segment import Draft, Segment
from ape.text.languages import language_name
from ape.text.terms import find_terms
from prompts import Prompt, Question, prompt_format

# A second draft at temperature 0 would equal the first, and at top_p 0.2 nearly so: later drafts use at least these.
RETRY_TEMPERATURE = 0.6
RETRY_TOP_P = 0.9
# Characters of MT and draft together. Guards and edits take about 5 ms at this length and up to 2 s at 20,000.
THREAD_MIN_CHARACTERS = 2_000

# Undone edits of these kinds are no good example of what was undone.
_MINOR_KINDS = (EditKind.PUNCTUATION, EditKind.CASING, EditKind.NUMBER, EditKind.REORDERING)

T = TypeVar("T")
P = ParamSpec("P")


async def post_edit(
    segment: Segment, engine: Engine, *, options: Options | None = None, listen: Listener = ignore_event
) -> PostEdit:
    """Repair the MT, or return it unchanged with the findings against each draft.

    Raises InputError for a passage that can't be processed, and EngineError if the model server keeps failing.
    """
    options = options or Options()
    check_bounds(options)
    check_bounds(segment)
    refuse_unreadable(segment)
    async with engine.using(options.model) as model:
        style = prompt_format(model.format)
        prompt = style.render(_question(segment, with_cast=style.is_chat))
        run = _PassageRun(segment, prompt, model, engine, options, listen)
        if reason := find_skip_reason(segment):
            run.note(reason)
            return await run.keep_mt(rejected=reason.severity is Severity.REJECT)
        await refuse_window_overflow(segment, prompt, engine, model)
        if prompt.unused_fields:
            run.note(_unused_fields_finding(prompt, model))
        if warning := untuned_pair_warning(
            model.name, model.languages, segment.source_language, segment.target_language
        ):
            run.note(Finding("languages", Severity.WARN, warning))
        for attempt in range(options.max_attempts):
            passed = await run.draw_drafts(attempt * options.candidates)
            if passed:
                return await run.accept(choose_candidate(segment.mt, passed))
        return await run.keep_mt(rejected=True)


@dataclass(frozen=True, slots=True)
class DraftCandidate:
    """A draft that passed the guards, with the outer space of the MT and the number of warnings."""

    text: str
    warnings: int
    attempt: int


def choose_candidate(mt: str, candidates: Sequence[DraftCandidate]) -> DraftCandidate:
    """Choose the candidate with the fewest warnings, then the one closest to the others by edit rate, then to the MT.

    With closeness to the MT alone, every large sample would end in no edit at all.
    """
    if len(candidates) == 1:
        return candidates[0]

    def rank(candidate: DraftCandidate) -> tuple[int, float, float, int]:
        others = [edit_rate(other.text, candidate.text) for other in candidates if other is not candidate]
        return candidate.warnings, round(fmean(others), 6), edit_rate(mt, candidate.text), candidate.attempt

    return min(candidates, key=rank)


async def _run_in_thread_if_long(length: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function, in a thread if the texts are so long that it would block other passages."""
    return (
        await asyncio.to_thread(function, *args, **kwargs)
        if length > THREAD_MIN_CHARACTERS
        else function(*args, **kwargs)
    )


@dataclass(slots=True)
class _PassageRun:
    """A passage in progress, with its findings and usage so far."""

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

    async def draw_drafts(self, previous: int) -> list[DraftCandidate]:
        """Request the drafts of one attempt concurrently, and return those that pass the guards."""
        numbers = range(previous + 1, previous + self.options.candidates + 1)
        drawn = await asyncio.gather(*(self._draft(number) for number in numbers), return_exceptions=True)
        failed = [outcome for outcome in drawn if isinstance(outcome, BaseException)]
        fatal = [error for error in failed if not isinstance(error, EngineError)]
        if fatal or len(failed) == len(drawn):
            raise (fatal or failed)[0]
        return [outcome for outcome in drawn if isinstance(outcome, DraftCandidate)]

    async def _draft(self, number: int) -> DraftCandidate | None:
        """Request one draft and check it; None if a guard rejects it."""

        def forward(event: Event) -> None:
            self.listen(replace(event, attempt=number) if isinstance(event, TokenEvent | RetryEvent) else event)

        sampling = draft_sampling(self.segment, self.options, number, with_logprobs=self.model.edit_filter is not None)
        self.listen(AttemptEvent(number, sampling.seed, sampling.temperature))
        reply = await self.engine.ask(self.prompt, sampling, model=self.model, listen=forward)
        self.usage += reply.usage
        draft = replace(reply.draft, text=self.prompt.read(reply.draft.text))
        if self.model.edit_filter:
            draft = self._filter_edits(self.model.edit_filter, draft, number)
        # An instruction may ask for other conventions.
        if not self.segment.instructions:
            draft = replace(draft, text=_with_conventions(self.segment, draft.text))
        length = len(self.segment.mt) + len(draft.text)
        findings = await _run_in_thread_if_long(length, check_draft, self.segment, draft)
        for finding in findings:
            self.note(replace(finding, attempt=number))
        if any(finding.severity is Severity.REJECT for finding in findings):
            return None
        return DraftCandidate(_with_outer_space(draft.text, self.segment.mt), len(findings), number)

    def _filter_edits(self, edit_filter: EditFilter, draft: Draft, number: int) -> Draft:
        """Undo the edits of the draft that its model was not sure of."""
        outcome = edit_filter.apply(self.segment, draft)
        if outcome.undone:
            self.note(_undone_edits_finding(outcome, number))
        for loop in outcome.loops:
            message = f"The MT repeats {loop[:60]!r} and so did the draft; the repetition was removed."
            self.note(Finding("loop", Severity.WARN, message, number))
        # If the end of the draft is undone, the text no longer ends where the draft was truncated.
        ends_undone = any(edit.span[1] >= len(draft.text) for edit in outcome.undone)
        reason = "stop" if ends_undone else draft.finish_reason
        return replace(draft, text=outcome.text, finish_reason=reason, logprobs=())

    async def accept(self, chosen: DraftCandidate) -> PostEdit:
        """Finish the passage with this draft."""
        same = chosen.text == self.segment.mt
        decision = Decision.UNCHANGED if same else Decision.EDITED
        return await self._finish(chosen.text, decision, chosen.attempt)

    async def keep_mt(self, *, rejected: bool) -> PostEdit:
        """Finish the passage with its MT unchanged."""
        return await self._finish(self.segment.mt, Decision.REJECTED if rejected else Decision.UNCHANGED, attempt=0)

    async def _finish(self, text: str, decision: Decision, attempt: int) -> PostEdit:
        result = await _run_in_thread_if_long(len(self.segment.mt) + len(text), self._result, text, decision, attempt)
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


def _undone_edits_finding(outcome: FilterOutcome, number: int) -> Finding:
    count = len(outcome.undone)
    example = next((edit for edit in outcome.undone if edit.kind not in _MINOR_KINDS), outcome.undone[0])
    what = "an edit was" if count == 1 else f"{count} edits were"
    change = f"{quote(example.before)} → {quote(example.after)}"
    message = f"The model was not confident enough: {what} undone, such as {change}."
    return Finding("gate", Severity.WARN, message, number)


def _unused_fields_finding(prompt: Prompt, model: Model) -> Finding:
    *first, last = prompt.unused_fields
    fields = f"{', '.join(first)} and {last}" if first else last
    message = f"{model.name} was tuned on source and MT alone: the request's {fields} had no effect."
    return Finding("format", Severity.WARN, message)


def untuned_pair_warning(model: str, tuned_for: Sequence[str], source_language: str, target_language: str) -> str:
    """The sentence for a model that was tuned for other language pairs only, as far as both languages are known."""
    pair = (source_language, target_language)
    if not tuned_for or "und" in pair or "-".join(pair) in tuned_for:
        return ""
    names = f"{language_name(source_language)} to {language_name(target_language)}"
    return f"{model} was tuned for {', '.join(tuned_for)}, not for {names}: review its edits with care."


def _question(segment: Segment, *, with_cast: bool) -> Question:
    # A small model recites terms that do not occur in the passage.
    there = find_terms(segment.source, [term for term, _ in segment.glossary])
    glossary = [(term, wording) for term, wording in segment.glossary if term in there]
    shown = cast_within_budget(segment.cast) if with_cast else []
    glossary += [(one.source, one.wording) for one in shown if one.in_passage and one.source not in there]
    return Question(
        source=segment.source.strip(),
        mt=segment.mt.strip(),
        source_language=language_name(segment.source_language),
        target_language=language_name(segment.target_language),
        context=tuple((pair.source, pair.target) for pair in segment.context),
        glossary=tuple(glossary),
        instructions=segment.instructions.strip(),
        cast=known_pronouns(shown),
    )


def _with_conventions(segment: Segment, draft: str) -> str:
    wordings = (*(wording for _, wording in segment.glossary), *(member.wording for member in segment.cast))
    return keep_conventions(segment.mt.strip(), draft, language=segment.target_language, wanted=wordings)


def draft_sampling(segment: Segment, options: Options, number: int, *, with_logprobs: bool) -> Sampling:
    """The sampling of draft `number`, counted from 1; later drafts are sampled so that they differ from the first."""
    sampled = option_values(options, SamplingOptions) | {"seed": options.seed + number - 1}
    if number > 1:
        sampled["temperature"] = max(options.temperature, RETRY_TEMPERATURE)
        sampled["top_p"] = max(options.top_p, RETRY_TOP_P)
    length = len(segment.mt)
    non_ascii = sum(character > "\x7f" for character in segment.mt)
    return Sampling(
        **sampled,
        # Twice an upper bound for the MT: a token for three ASCII characters, three tokens for any other character.
        max_tokens=options.max_tokens or 64 + 2 * (length - non_ascii) // 3 + 6 * non_ascii,
        max_characters=200 + 2 * length,
        stop=options.stop,
        alternatives=LOGPROB_ALTERNATIVES if with_logprobs else 0,
    )


def _with_outer_space(text: str, mt: str) -> str:
    lead = mt[: len(mt) - len(mt.lstrip())]
    trail = mt[len(mt.rstrip()) :]
    return lead + text + trail
