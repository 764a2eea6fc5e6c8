"""The official schemas of XLIFF and TMX from Debian packages.

They are fetched once, with `apt-get download`, into the user's cache; where that can't be done, the tests that need
them are skipped and say why.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs
import pytest
from lxml import etree  # type: ignore[import-untyped]

_SYMFONY = "usr/share/php/Symfony/Component/Translation/Resources/schemas"
_OMEGAT = "usr/share/omegat/OmegaT.jar"


def _folder(package: str) -> Path:
    """The folder of a Debian package's files; skips the test where they are not available."""
    kept = Path(platformdirs.user_cache_dir("ape-tests")) / "debian" / package
    if not kept.exists() and (why := _fetch(package, kept)):
        pytest.skip(f"the schemas in Debian's {package} can't be fetched: {why}")
    return kept


@cache
def _fetch(package: str, kept: Path) -> str:
    """Fetch and unpack a package once; return the reason of a failure, or ""."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "there is no apt-get here"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        try:
            command = ["apt-get", "download", package]
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "it takes too long"
        fetched = next(Path(folder).glob("*.deb"), None)
        if done.returncode or fetched is None:
            return done.stderr.decode()[:200].strip()
        unpacked = Path(folder) / "files"
        subprocess.run(["dpkg-deb", "-x", fetched, unpacked], check=True, timeout=60)
        # Another process may have been quicker, which is as good.
        with suppress(OSError):
            unpacked.rename(kept)
    return ""


class _Local(etree.Resolver):  # type: ignore[misc]
    """Resolve imported schemas from the same folder, without network access."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resolve(self, url: str, public: str, context: object) -> object:
        if url.endswith("xml.xsd"):
            return self.resolve_filename(str(self.folder / "xml.xsd"), context)
        return None


@cache
def _schema(name: str) -> etree.XMLSchema:
    folder = _folder("php-symfony-translation") / _SYMFONY
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(_Local(folder))
    return etree.XMLSchema(etree.parse(str(folder / name), parser))


@cache
def _tmx() -> etree.DTD:
    with zipfile.ZipFile(_folder("omegat") / _OMEGAT) as jar, jar.open("schemas/tmx14.dtd") as file:
        return etree.DTD(file)


def assert_valid_xliff(content: bytes, version: str) -> None:
    schema = _schema({"1.2": "xliff-core-1.2-strict.xsd", "2.0": "xliff-core-2.0.xsd"}[version])
    schema.assertValid(etree.fromstring(content))


def assert_valid_tmx(content: bytes) -> None:
    assert _tmx().validate(etree.fromstring(content)), _tmx().error_log
