"""A page that stands alone: strict templates, our own style and script in it, and a policy against all else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi"})


def page_templates(
    *packages: str, filters: Mapping[str, Any] | None = None, names: Mapping[str, Any] | None = None
) -> Environment:
    """The templates of the packages, the first that has one, and the head that all share.

    Whatever they are given is escaped, and what they are not given is an error.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "") for package in (*packages, "ape.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"direction": text_direction, "policy_hash": _policy_hash, **(filters or {})}
    environment.globals |= names or {}
    return environment


@lru_cache
def page_asset(package: str, name: str) -> Markup:
    """Our own style or script, as it stands in the page."""
    return Markup(resources.files(package).joinpath(name).read_text(encoding="utf-8"))  # noqa: S704


def text_direction(language: str) -> str:
    """Which way a language is written, as HTML says it."""
    return "rtl" if language.partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def _policy_hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
