"""Write the reference pages from the code itself: commands, settings, HTTP, guards, formats and metrics.

MkDocs calls `on_files` before it builds the site (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, write in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content=write()))
    return files


def commands_page() -> str:
    """Every command with its arguments and options, from the parser."""
    import typer.main

    from ape.cli.main import app

    root = typer.main.get_command(app)
    return "\n".join(["# Commands", "", "`ape COMMAND --help` prints the same.", "", *_command_lines(root, "ape")])


def _command_lines(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for child in sorted(command.commands):
            yield from _command_lines(command.commands[child], f"{name} {child}")
        return
    yield from (f"## `{name}`", "", _prose(command.help or ""), "")
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    words = " ".join(_argument(one) for one in arguments)
    yield from ("```", f"{name} {'[OPTIONS] ' if options else ''}{words}".rstrip(), "```", "")
    for title, group in (("argument", arguments), ("option", options)):
        if group:
            yield from (f"| {title} | meaning | default |", "|---|---|---|")
            for one in group:
                names = _argument(one) if title == "argument" else ", ".join(f"`{flag}`" for flag in one.opts)
                yield f"| {names} | {_cell(getattr(one, 'help', '') or '')} | {_default(one)} |"
            yield ""


def _argument(one: Any) -> str:
    return str(one.metavar or one.name).upper()


def _default(one: Any) -> str:
    value = one.default
    if one.required or value is None or callable(value) or repr(value).startswith("<") or value in ((), [], ""):
        return ""
    if isinstance(value, bool):
        return "" if not value else "on"
    return f"`{getattr(value, 'value', value)}`"


def settings_page() -> str:
    """Every setting, from the model that reads them."""
    from pydantic_core import PydanticUndefined

    from ape.settings import Settings

    lines = [
        "# Settings",
        "",
        "A flag wins over the environment, the environment over the file, the file over the default. The variable of a",
        "setting is its name in capitals after `APE_` (`APE_PORT=9000`). The file is `ape.toml` in the working directory,",
        "`config.toml` in the user's configuration directory, or the file that `APE_CONFIG` names. `ape settings` prints",
        "the values in force, with secrets masked.",
        "",
        "| setting | meaning | default |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, PydanticUndefined, (), {}) else f"`{field.default}`"
        lines.append(f"| `{name}` | {_cell(field.description or '')} | {default} |")
    return "\n".join([*lines, ""])


def http_page() -> str:
    """Every route, from the OpenAPI document of the service."""
    from ape.engines.factory import open_engine
    from ape.settings import Settings
    from serve.app import create_app

    settings = Settings()
    document = create_app(settings, open_engine(settings)).openapi()
    lines = ["# HTTP", "", _prose(document["info"].get("description", "")), ""]
    lines += [
        "`GET /openapi.json` is the whole description and `GET /docs` a page to try it on, without a network. Errors are",
        "RFC 9457 problem details; 401, 429 and 5xx say in their headers what to do.",
        "",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += _operation_lines(method.upper(), path, operation)
    schemas = document["components"]["schemas"]
    lines += ["## Schemas", ""]
    for name in ("PostEditRequest", "PostEditResponse", "Problem"):
        lines += [f"### {name}", "", "```json", json.dumps(schemas[name], indent=2, ensure_ascii=False), "```", ""]
    return "\n".join(lines)


def _operation_lines(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## `{method} {path}`", "", _sentence(operation.get("summary", "")), "")
    if description := operation.get("description"):
        yield from (_prose(description), "")
    if parameters := operation.get("parameters"):
        yield from ("| parameter | in | meaning |", "|---|---|---|")
        for one in parameters:
            yield f"| `{one['name']}` | {one['in']} | {_cell(one.get('description', ''))} |"
        yield ""
    yield from ("| status | meaning |", "|---|---|")
    for status, answer in operation["responses"].items():
        yield f"| {status} | {_cell(answer.get('description', ''))} |"
    yield ""


def guards_page() -> str:
    """Every guard, from the registry and the docstrings of the modules."""
    import sys

    from ape.guards import GUARDS

    lines = [
        "# Guards",
        "",
        "A guard is a small pure function that looks at a draft and returns findings. A finding of severity `reject`",
        "refuses the draft: another is requested, and in the end the MT is kept. `warn` is shown and refuses nothing.",
        "",
        "| guard | what it finds |",
        "|---|---|",
    ]
    for name, guard in GUARDS.items():
        lines.append(f"| `{name}` | {_cell(_first_line(sys.modules[guard.__module__]))} |")
    return "\n".join([*lines, ""])


def formats_page() -> str:
    """Every book format, from the registry."""
    from ape.books.formats import FORMATS

    lines = [
        "# Book formats",
        "",
        "A book comes back in the format it came in: bytes that belong to no edited text stay as they were, and with",
        "nothing edited the file is identical. The format is detected from the file name or the content; `--format` overrides it.",
        "",
        "| name | format | file names |",
        "|---|---|---|",
    ]
    for name, one in FORMATS.items():
        lines.append(f"| `{name}` | {one.title} | {', '.join(one.suffixes) or 'detected by content'} |")
    return "\n".join([*lines, ""])


def metrics_page() -> str:
    """Every metric with its definition, direction and signature, from the registry."""
    from eval.metrics.registry import DISCOURSE_METRICS, METRICS, create_metrics

    lines = [
        "# Metrics",
        "",
        "A metric counts first and folds after: it yields statistics for each segment, a score is folded from their sums,",
        "and intervals and paired tests fold resamples of the same statistics. Every score carries a signature with",
        "everything that changes the number; what can't be measured says why. `--metric discourse` stands for",
        ", ".join(f"`{name}`" for name in DISCOURSE_METRICS) + ".",
        "",
    ]
    for name in METRICS:
        lines += [f"## `{name}`", ""]
        try:
            metric = create_metrics([name])[0]
        except Exception as error:  # a metric that is not installed says so
            lines += [f"Not installed where this page was built: {error}", ""]
            continue
        better = "higher" if getattr(metric, "higher_is_better", True) else "lower"
        lines += [inspect.cleandoc(type(metric).__doc__ or ""), "", f"*{better.capitalize()} is better.*", ""]
    return "\n".join(lines)


def _first_line(module: Any) -> str:
    return (inspect.getdoc(module) or "").split("\n")[0]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _prose(text: str) -> str:
    return inspect.cleandoc(text).replace("<", "&lt;")


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands_page,
    "settings": settings_page,
    "http": http_page,
    "guards": guards_page,
    "formats": formats_page,
    "metrics": metrics_page,
}
