"""Post-edit one passage: ask for a draft, let the guards look at it, ask again, or keep the MT."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ape.edits import edit_rate, find_edits
from ape.engines.protocol import DEFAULT, Engine, Model, Sampling
from ape.errors import InputError, TooLong
from ape.events import Attempt, Done, Found, Listener, ignore
from ape.guards import check
from ape.languages import name_of
from ape.segment import Segment
from ape.verdict import Decision, Finding, PostEdit, Severity, Usage
from ape.words import words
from prompts import Prompt, Question, render_chat

# A second draft at temperature 0 would be the first again, and a nucleus of 0.2 nearly so: an attempt after a
# refusal draws from at least this much.
RETRY_TEMPERATURE = 0.6
RETRY_TOP_P = 0.9

# Control characters, and halves of characters that no encoding has alone.
UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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
        return work.finish(segment.mt, kept, listen)
    await refuse_what_does_not_fit(segment, prompt, engine, model)
    for attempt in range(1, options.max_attempts + 1):
        sampling = _sampling(segment, options, attempt)
        listen(Attempt(attempt, sampling.seed, sampling.temperature))
        reply = await engine.ask(prompt, sampling, model=model, listen=listen)
        work.usage += reply.usage
        draft = replace(reply.draft, text=prompt.read(reply.draft.text))
        findings = [replace(finding, attempt=attempt) for finding in check(segment, draft)]
        for finding in findings:
            work.note(finding, listen)
        if not any(finding.severity is Severity.REJECT for finding in findings):
            text = _with_outer_space(draft.text, segment.mt)
            return work.finish(text, Decision.UNCHANGED if text == segment.mt else Decision.EDITED, listen)
    return work.finish(segment.mt, Decision.REJECTED, listen)


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

    def finish(self, text: str, decision: Decision, listen: Listener) -> PostEdit:
        mt = self.segment.mt
        result = PostEdit(
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
        listen(Done(result))
        return result


def refuse_unreadable(segment: Segment) -> None:
    """Raise for a blank side, or for characters that no book has, naming the field and the place."""
    for side, text in (("source", segment.source), ("mt", segment.mt)):
        if not text.strip():
            raise InputError(f"{side} is blank. Give the passage and its machine translation.", field=side)
    for name, text in _texts(segment):
        if found := UNREADABLE.search(text):
            raise InputError(
                f"{name} has the unreadable character U+{ord(found.group()):04X} at position {found.start()}. "
                "Remove it.",
                field=name,
            )


def _texts(segment: Segment) -> Iterator[tuple[str, str]]:
    yield "source", segment.source
    yield "mt", segment.mt
    yield "instructions", segment.instructions
    for pair in segment.context:
        yield from (("context", pair.source), ("context", pair.target))
    for entry in segment.glossary:
        yield from (("glossary", text) for text in entry)


def nothing_to_edit(segment: Segment) -> Finding | None:
    """Why no model need be asked: the MT says nothing, or it is the source over again."""
    count = len(words(segment.mt))
    if not count:
        message = "The passage has no words, only marks, and is kept as it is."
        return Finding("wordless", Severity.WARN, message)
    if segment.mt.strip() != segment.source.strip() or segment.source_language == segment.target_language:
        return None
    if count < 4:
        message = "The MT is the same as the source (a name or a number, perhaps) and is kept as it is."
        return Finding("untranslated", Severity.WARN, message)
    message = "The MT is the source text itself: there is no translation to repair. Translate it first."
    return Finding("untranslated", Severity.REJECT, message)


async def refuse_what_does_not_fit(segment: Segment, prompt: Prompt, engine: Engine, model: Model) -> None:
    """Raise where the question and an answer as long as the MT need more tokens than the model's window."""
    if model.window is None:
        return
    text = "\n".join(message.content for message in prompt.messages)
    if _most_tokens(text) + _most_tokens(segment.mt) <= model.window:
        return
    asked, answer = await engine.count(text), await engine.count(segment.mt)
    if asked is None or answer is None:
        return
    # The chat template adds a few control tokens to each message.
    needed = asked + answer + 8 * len(prompt.messages)
    if needed > model.window:
        raise TooLong(
            f"The passage needs {needed:,} tokens (its question {asked:,}, an answer as long as the MT {answer:,}), "
            f"and the window of {model.name} holds {model.window:,}. Split it at a paragraph or a sentence.",
            actual=needed,
            limit=model.window,
            field="mt",
        )


def _most_tokens(text: str) -> int:
    """More tokens than any byte-level vocabulary can make of the text, without asking."""
    return len(text.encode("utf-8", "replace")) + 64


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
