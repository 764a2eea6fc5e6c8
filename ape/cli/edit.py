"""`ape edit`: post-edit one passage, or a JSON request from stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ape.cli.flags import (
    EngineFlags,
    GivenOptions,
    GlossaryFlag,
    InstructionsFlag,
    JsonFlag,
    SourceLanguageFlag,
    TargetLanguageFlag,
    expand_flag_groups,
    parse_glossary_flags,
)
from ape.errors import InputError

if TYPE_CHECKING:
    from ape.passage.request import PostEditRequest
    from ape.passage.result import PostEdit
    from ape.settings import Settings


@expand_flag_groups
def edit(
    source: Annotated[str | None, typer.Option("--source", help="File with the source passage; - for stdin.")] = None,
    mt: Annotated[str | None, typer.Option("--mt", help="File with the machine translation; - for stdin.")] = None,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    glossary: GlossaryFlag = None,
    instructions: InstructionsFlag = "",
    *,
    options: GivenOptions,
    json_output: JsonFlag = False,
    engine_flags: EngineFlags,
) -> None:
    """Post-edit one passage.

    Print the post-edit to stdout, or the MT if all drafts were rejected; the
    reasons go to stderr. Without --source and --mt, read a JSON request with
    "source" and "mt" from stdin.
    """
    from ape.passage.intake import refuse_too_many_characters
    from ape.text.languages import language_code

    flags = {
        "source_language": source_language and language_code(source_language),
        "target_language": target_language and language_code(target_language),
        "glossary": parse_glossary_flags(glossary) or None,
        "instructions": instructions or None,
    }
    given = {name: value for name, value in flags.items() if value is not None} | options
    request = _request(_read(source, mt) | given)
    settings = engine_flags.settings()
    refuse_too_many_characters(request.source, request.mt, settings.max_characters)
    result = _run(request, settings)
    _show(request, result, json_output=json_output)


def _read(source: str | None, mt: str | None) -> dict[str, Any]:
    if source is None and mt is None:
        return _from_stdin()
    if source is None or mt is None:
        missing = "--source" if source is None else "--mt"
        raise InputError(f"{missing} is missing: give the passage and its machine translation.")
    if source == mt == "-":
        raise InputError("Only one of --source and --mt can be stdin.")
    return {"source": _text(source), "mt": _text(mt)}


def _from_stdin() -> dict[str, Any]:
    import json

    if sys.stdin.isatty():
        raise InputError(
            "There is nothing to edit: give --source and --mt, or a JSON request on stdin. See `ape edit --help`."
        )
    try:
        request = json.loads(_decoded(sys.stdin.buffer.read(), "stdin"))
    except ValueError as error:
        raise InputError(f"stdin is not a JSON request: {error}.") from error
    if not isinstance(request, dict):
        raise InputError('stdin must be a JSON object with "source" and "mt".')
    return request


def _text(name: str) -> str:
    if name == "-":
        return _decoded(sys.stdin.buffer.read(), "stdin").rstrip("\n")
    try:
        return _decoded(Path(name).read_bytes(), name).rstrip("\n")
    except OSError as error:
        raise InputError(f"{name} can't be read: {error.strerror}.") from error


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        looks_like = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
        raise InputError(
            f"{name} is not UTF-8 (at byte {error.start}); it may be {looks_like}. "
            f"Convert it first: iconv -f {looks_like} -t UTF-8 FILE"
        ) from error


def _request(content: dict[str, Any]) -> PostEditRequest:
    from pydantic import ValidationError

    from ape.passage.request import PostEditRequest

    try:
        return PostEditRequest.model_validate(content)
    except ValidationError as error:
        sentences = [
            f"{'.'.join(map(str, detail['loc'])) or 'request'}: "
            + ("is empty" if detail["type"] == "string_too_short" else str(detail["msg"]))
            for detail in error.errors()
        ]
        raise InputError("; ".join(sentences)) from error


def _run(request: PostEditRequest, settings: Settings) -> PostEdit:
    import asyncio

    from ape.cli.terminal import fetch_with_progress, print_line
    from ape.engines.factory import open_engine
    from ape.passage.intake import refuse_unreadable
    from ape.post_editor import post_edit

    segment = request.to_segment()
    refuse_unreadable(segment)
    fetch_with_progress(settings)

    async def work() -> PostEdit:
        async with open_engine(settings, log_line=print_line) as engine:
            return await post_edit(segment, engine, options=request.to_options())

    return asyncio.run(work())


def _show(request: PostEditRequest, result: PostEdit, *, json_output: bool) -> None:
    import json
    from dataclasses import asdict

    from rich.console import Console

    from ape.cli.model_caveats import larger_model_hint
    from ape.cli.terminal import error_console, format_decision, format_diff

    if json_output:
        typer.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2))
        return
    out, errors = Console(soft_wrap=True, highlight=False), error_console()
    if out.is_terminal:
        out.print(format_diff(request.mt, result, coloured=bool(out.color_system)))
    else:
        typer.echo(result.post_edit)
    count = len(result.edits)
    edits = f"{count} edit{'s' * (count != 1)}"
    errors.print(format_decision(result), end=" ")
    errors.print(f"· {edits} · edit rate {result.edit_rate:.0%} · {result.model}", markup=False)
    for finding in result.findings:
        errors.print(f"  attempt {finding.attempt}, {finding.guard}: {finding.message}", markup=False)
    if not result.edits and (hint := larger_model_hint(result.model)):
        errors.print(f"  {result.model} is tiny; {hint}", markup=False)
