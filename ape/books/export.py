"""A job's paragraphs in other formats: everything as JSON lines, pairs for spreadsheets and translation tools, or text.

Rows go through one at a time, so a book of any length takes the memory of a paragraph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO, Literal
from xml.sax.saxutils import escape, quoteattr

from ape.books.inline import xml_text
from ape.books.marks import MARK, misplaced, without_marks
from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.row import Row, State

ExportFormat = Literal["jsonl", "tsv", "tmx", "xliff", "txt"]
