"""Make EPUBs for tests that epubcheck accepts."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path
from re import sub

CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""
DOCTYPES = {
    2: '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">\n',
    3: "<!DOCTYPE html>\n",
}
STYLE = "p { margin: 0; text-indent: 1em; }\n"
When = tuple[int, int, int, int, int, int]


def make_epub(
    path: Path,
    *,
    paragraphs: Sequence[Sequence[str]],
    language: str,
    version: int = 3,
    title: str = "A Book",
    documents: Mapping[str, str | bytes] | None = None,
    extra: Mapping[str, bytes] | None = None,
    newline: str = "\n",
    when: When = (2024, 5, 17, 10, 30, 2),
) -> Path:
    """Write an EPUB: each inner list is a chapter of paragraphs of XHTML inline content.

    A paragraph that is an element of a block already ("<h2>…</h2>") stands as it is, and a first one that is plain is a
    heading. `documents` replaces whole documents by name ("ch01.xhtml"); `extra` has more entries.
    """
    chapters = {f"ch{number:02d}.xhtml": body(chapter) for number, chapter in enumerate(paragraphs, start=1)}
    labels = [plain(chapter[0]) if chapter else "…" for chapter in paragraphs]
    entries: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package(list(chapters), language=language, version=version, title=title),
        "OEBPS/toc.ncx": ncx(list(chapters), labels, title=title),
        "OEBPS/style.css": STYLE,
    }
    if version == 3:
        entries["OEBPS/nav.xhtml"] = nav(list(chapters), labels, language=language)
    for name, content in chapters.items():
        entries[f"OEBPS/{name}"] = page(content, language=language, version=version, newline=newline)
    for name, whole in (documents or {}).items():
        entries[f"OEBPS/{name}"] = whole
    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "mimetype", b"application/epub+zip", when, zipfile.ZIP_STORED)
        for name, text in {**entries, **(extra or {})}.items():
            add(archive, name, text.encode() if isinstance(text, str) else text, when)
    return path


def add(archive: zipfile.ZipFile, name: str, data: bytes, when: When, method: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, when)
    entry.compress_type = method
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def body(chapter: Sequence[str]) -> str:
    blocks = []
    for number, text in enumerate(chapter):
        if text.startswith(("<p", "<h1", "<h2", "<h3", "<div", "<ul", "<ol", "<table", "<pre", "<blockquote")):
            blocks.append(text)
        else:
            blocks.append(f"<h1>{text}</h1>" if number == 0 else f"<p>{text}</p>")
    return "\n  ".join(blocks)


def page(content: str, *, language: str, version: int = 3, newline: str = "\n") -> str:
    epub = ' xmlns:epub="http://www.idpf.org/2007/ops"' if version == 3 else ""
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
{DOCTYPES[version]}<html xmlns="http://www.w3.org/1999/xhtml"{epub} xml:lang="{language}">
<head>
  <title>A page</title>
  <link rel="stylesheet" type="text/css" href="style.css"/>
</head>
<body>
  {content}
</body>
</html>
"""
    return text.replace("\n", newline)


def plain(text: str) -> str:
    return unescape(sub("<[^>]*>", "", text)).replace("&", "&amp;").replace("<", "&lt;") or "…"


def package(names: Sequence[str], *, language: str, version: int, title: str) -> str:
    items = [f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(names)]
    items.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
    items.append('<item id="css" href="style.css" media-type="text/css"/>')
    modified = ""
    if version == 3:
        items.append('<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>')
        modified = '\n    <meta property="dcterms:modified">2024-05-17T10:30:00Z</meta>'
    spine = "\n    ".join(f'<itemref idref="c{n}"/>' for n in range(len(names)))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="{version}.0" unique-identifier="id">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="id">urn:uuid:3c9f2f0e-7a55-4a0e-9a3f-6b8f5a4d2e10</dc:identifier>
    <dc:title>{title}</dc:title>
    <dc:language>{language}</dc:language>{modified}
  </metadata>
  <manifest>
    {(chr(10) + "    ").join(items)}
  </manifest>
  <spine toc="ncx">
    {spine}
  </spine>
</package>
"""


def ncx(names: Sequence[str], labels: Sequence[str], *, title: str) -> str:
    points = "\n    ".join(
        f'<navPoint id="n{n}" playOrder="{n}">'
        f'<navLabel><text>{label}</text></navLabel><content src="{name}"/></navPoint>'
        for n, (name, label) in enumerate(zip(names, labels, strict=True), start=1)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
  <head><meta name="dtb:uid" content="urn:uuid:3c9f2f0e-7a55-4a0e-9a3f-6b8f5a4d2e10"/></head>
  <docTitle><text>{title}</text></docTitle>
  <navMap>
    {points}
  </navMap>
</ncx>
"""


def nav(names: Sequence[str], labels: Sequence[str], *, language: str) -> str:
    pairs = zip(names, labels, strict=True)
    links = "\n    ".join(f'<li><a href="{name}">{label}</a></li>' for name, label in pairs)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="{language}">
<head><title>Contents</title></head>
<body>
  <nav epub:type="toc"><ol>
    {links}
  </ol></nav>
</body>
</html>
"""
