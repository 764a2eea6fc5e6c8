"""Cells that a spreadsheet would run as a formula get an apostrophe before them, and lose it when they are read."""

from __future__ import annotations

FORMULA_PREFIXES = tuple("=+-@\t\r'")


def escape_formula(cell: str) -> str:
    """The cell as it is written."""
    return f"'{cell}" if cell.startswith(FORMULA_PREFIXES) else cell


def unescape_formula(cell: str) -> str:
    """The cell as it was before `escape_formula`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_PREFIXES) else cell
