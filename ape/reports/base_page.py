"""Self-contained HTML pages: strict templates, inlined style and script, and a content security policy.

Values are escaped by the templates. Should one ever not be, the policy of the page runs no script and applies no style
except the page's own, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ape.files.atomic import write_text_atomic
from ape.reports.number_format import NUMBER_FILTERS

_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi"})


class Page:
    """The templates and assets of one page.

    Files are looked up by name in `packages`, first match wins, then in `ape.reports`, which holds the shared
    `head.html` and `style.css`. A template variable without a value is an error.
    """

    def __init__(
        self,
        *packages: str,
        styles: Iterable[str] = (),
        scripts: Iterable[str] = (),
        filters: Mapping[str, Any] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        self._packages = packages
        self._styles = ("style.css", *styles)
        self._scripts = tuple(scripts)
        self._filters = filters or {}
        self._names = names or {}

    def generate(self, template: str, **values: Any) -> Iterator[str]:
        """Render a template piece by piece; it is given `style` and `script` too."""
        assets = {"style": self._join(self._styles), "script": self._join(self._scripts)}
        return self._environment.get_template(template).generate(**(assets | values))

    def render(self, template: str, **values: Any) -> str:
        """Render a template as one string."""
        return "".join(self.generate(template, **values))

    def write(self, path: Path, template: str, **values: Any) -> None:
        """Render a template to `path`, replacing an existing file only once the page is complete."""
        write_text_atomic(path, self.generate(template, **values))

    def asset(self, name: str) -> Markup:
        """The text of a style sheet or script, unescaped."""
        assert self._environment.loader is not None
        return Markup(self._environment.loader.get_source(self._environment, name)[0])  # noqa: S704

    def _join(self, names: Iterable[str]) -> Markup:
        return Markup("\n").join(map(self.asset, names))

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(package, "") for package in (*self._packages, "ape.reports")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        shared = {"direction": text_direction, "policy_hash": _policy_hash}
        environment.filters |= {**NUMBER_FILTERS, **shared, **self._filters}
        environment.globals |= self._names
        return environment


def text_direction(language: str) -> str:
    """The value of the HTML `dir` attribute for a language."""
    return "rtl" if language.partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def _policy_hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
