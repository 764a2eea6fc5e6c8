"""Read a Word document with tracked changes: by its XML, and as LibreOffice understands it."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


def texts_in_xml(path: Path, *, accept: bool) -> list[str]:
    """The paragraphs of the document with all changes accepted or rejected."""
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("word/document.xml"))
    dropped = f"{W}del" if accept else f"{W}ins"
    out = []
    for paragraph in root.iter(f"{W}p"):
        text = ""
        for node in paragraph.iter(f"{W}t", f"{W}delText", f"{W}br", f"{W}tab"):
            if any(parent.tag == dropped for parent in node.iterancestors()):
                continue
            text += {f"{W}br": "\n", f"{W}tab": "\t"}.get(node.tag, node.text or "")
        out.append(text)
    return out


def libreoffice_missing() -> str:
    return "" if shutil.which("soffice") else "LibreOffice (soffice) is not installed"


def resolve_in_libreoffice(path: Path, folder: Path, *, accept: bool) -> list[str]:
    """The paragraphs after LibreOffice itself has accepted or rejected all tracked changes of the document."""
    folder.mkdir()
    profile, out = folder / "profile", folder / "resolved.fodt"
    office = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore"]
    # The first start writes the profile, with an empty library of macros.
    subprocess.run([*office, "--terminate_after_init"], check=True, capture_output=True, timeout=600)
    _add_macro(profile / "user" / "basic" / "Standard")
    command = "AcceptAllTrackedChanges" if accept else "RejectAllTrackedChanges"
    macro = f'macro:///Standard.Module1.Resolve("{path.as_uri()}","{out.as_uri()}","{command}")'
    subprocess.run([*office, macro], check=True, capture_output=True, timeout=600)
    root = etree.parse(out).getroot()
    assert next(root.iter(f"{TEXT}changed-region"), None) is None, "changes are left"
    body = next(root.iter(f"{OFFICE}text"))
    return [_walk(one) for one in body if one.tag in (f"{TEXT}p", f"{TEXT}h")]


_MACRO = """Sub Resolve(source As String, target As String, command As String)
  Dim hidden(0) As New com.sun.star.beans.PropertyValue
  hidden(0).Name = "Hidden" : hidden(0).Value = True
  document = StarDesktop.loadComponentFromURL(source, "_blank", 0, hidden())
  dispatcher = createUnoService("com.sun.star.frame.DispatchHelper")
  dispatcher.executeDispatch(document.CurrentController.Frame, ".uno:" &amp; command, "", 0, Array())
  Dim flat(0) As New com.sun.star.beans.PropertyValue
  flat(0).Name = "FilterName" : flat(0).Value = "OpenDocument Text Flat XML"
  document.storeToURL(target, flat())
  document.close(True)
End Sub
"""
_MODULE = (
    '<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic">'
)
_LIBRARY = """<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard"
 library:readonly="false" library:passwordprotected="false"><library:element library:name="Module1"/></library:library>
"""
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _add_macro(library: Path) -> None:
    """Put the macro into the library of a profile."""
    (library / "Module1.xba").write_text(f"{_HEAD}{_MODULE}{_MACRO}</script:module>\n", encoding="utf-8")
    (library / "script.xlb").write_text(_HEAD + _LIBRARY, encoding="utf-8")


def _walk(node: etree.Element) -> str:
    text = node.text or ""
    for child in node:
        if child.tag == f"{TEXT}s":
            text += " " * int(child.get(f"{TEXT}c", "1"))
        elif child.tag == f"{TEXT}line-break":
            text += "\n"
        elif child.tag == f"{TEXT}tab":
            text += "\t"
        elif not child.tag.startswith(OFFICE):
            text += _walk(child)
        text += child.tail or ""
    return text
