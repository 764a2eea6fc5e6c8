"""Number formats of pages and tables, also available as template filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def format_number(value: float) -> str:
    """Four decimals between 0 and 1, otherwise two."""
    return f"{value:.4f}" if 0 < abs(value) < 1 else f"{value:,.2f}"


def format_signed(value: float) -> str:
    """A number with its sign and a typographic minus."""
    return ("+" if value >= 0 else "−") + format_number(abs(value))


def format_p_value(value: float) -> str:
    """A p-value as papers print it."""
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


def format_percent(share: float) -> str:
    """A share as a percentage, with one decimal below 10%."""
    return f"{share:.0%}" if share >= 0.1 or not share else f"{share:.1%}"


def format_count(number: float) -> str:
    """A number with thousands separators."""
    return f"{number:,}"


def format_table_value(value: float | None) -> str:
    """Integers as counts, other numbers with two decimals, and "n/a" for None."""
    if value is None:
        return "n/a"
    return format_count(value) if isinstance(value, int) else f"{value:.2f}"


NUMBER_FILTERS: Mapping[str, Callable[..., str]] = {
    "number": format_number,
    "signed": format_signed,
    "p_value": format_p_value,
    "percent": format_percent,
    "thousands": format_count,
    "table_value": format_table_value,
}
