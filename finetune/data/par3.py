"""Reader of PAR3's pickle: books with the paragraphs of the source, the MT and each translator.

A pickle can run any program when it is loaded. This one is loaded by a reader that knows lists, dictionaries, texts
and numbers, and refuses whatever else is in it before it comes alive.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ape.errors import InputError
from ape.text.languages import language_code
from finetune.data.paragraph import TrainingParagraph
from finetune.data.row_reader import DefaultLanguages


class _Translation(BaseModel):
    model_config = ConfigDict(strict=True)

    translator_paras: list[str]


class _Book(BaseModel):
    model_config = ConfigDict(strict=True)

    source_paras: list[str]
    gt_paras: list[str]
    translator_data: dict[str, _Translation]


_BOOKS = TypeAdapter(dict[str, _Book])


class _ClassFound(Exception):
    pass


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that creates only plain values."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse imports, which could run code."""
        raise _ClassFound(f"{module}.{name}")

    def persistent_load(self, pid: Any, /) -> NoReturn:
        """Refuse references to objects outside the file."""
        raise _ClassFound(f"a reference to something outside, {str(pid)[:60]!r}")


def read_par3(path: Path, *, languages: DefaultLanguages) -> list[TrainingParagraph]:
    """Read the paragraphs of all books. A book's name ends in its source language, as "candide_fr".

    The source language that was given is that of books whose name does not say it.
    """
    found: list[TrainingParagraph] = []
    for name, book in _load(path).items():
        source = _language(name, languages.source, path.name)
        found += _paragraphs(name, book, path.name, (source, language_code(languages.target or "en")))
    if not found:
        raise InputError(f"{path.name} has no paragraphs.")
    return found


def _load(path: Path) -> dict[str, _Book]:
    try:
        with path.open("rb") as file:
            content = _PlainUnpickler(file).load()
    except _ClassFound as error:
        raise InputError(
            f"{path.name} is refused: it holds more than lists, dictionaries and texts ({error}), and such a pickle "
            "can run any program. PAR3's own files hold plain values only."
        ) from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error
    except Exception as error:  # a damaged pickle raises anything
        raise InputError(f"{path.name} is not a pickle, or is broken: {str(error).rstrip('.')}.") from error
    try:
        return _BOOKS.validate_python(content)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(
            f"{path.name} is not laid out as PAR3 is, {{book: {{source_paras, gt_paras, translator_data}}}}: "
            f"{place}: {first['msg']}."
        ) from error


def _language(name: str, given: str | None, file: str) -> str:
    _, mark, ending = name.rpartition("_")
    if mark and len(ending) in (2, 3) and ending.isalpha():
        return language_code(ending)
    if given is None:
        raise InputError(
            f"The name of the book {name!r} of {file} does not end in its language, as candide_fr does. Give "
            "the source language.",
            field="source_language",
        )
    return language_code(given)


def _paragraphs(name: str, book: _Book, file: str, languages: tuple[str, str]) -> Iterator[TrainingParagraph]:
    sides = {"gt_paras": book.gt_paras}
    sides |= {who: one.translator_paras for who, one in book.translator_data.items()}
    for side, texts in sides.items():
        if len(texts) != len(book.source_paras):
            raise InputError(
                f"The book {name!r} of {file} has {len(book.source_paras):,} paragraphs in the source and "
                f"{len(texts):,} in {side}: paragraph by paragraph they must be as many."
            )
    if not book.translator_data:
        raise InputError(f"The book {name!r} of {file} has no human translation.")
    for place, (source, mt) in enumerate(zip(book.source_paras, book.gt_paras, strict=True)):
        humans = tuple((who, one.translator_paras[place].strip()) for who, one in book.translator_data.items())
        yield TrainingParagraph(f"{name}:{place}", name, source.strip(), mt.strip(), humans, *languages)
