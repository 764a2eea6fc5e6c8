"""Files of names: read and write a ledger as a table, as JSON, as a glossary of other tools, as a list, or as TBX."""

from __future__ import annotations

from ape.ledger.files.formats import NAME_FORMATS, NameFormat, read_names, write_names

__all__ = ["NAME_FORMATS", "NameFormat", "read_names", "write_names"]
