"""The text encodings of books. All other codecs of Python (hex, zlib, idna, …) are refused, wherever they are named."""

from __future__ import annotations

import codecs

_UNICODE = "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be"
_EUROPEAN = (
    "ascii cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 "
    "cp1125 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-1 iso8859-2 iso8859-3 iso8859-4 "
    "iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r "
    "koi8-t koi8-u kz1048 ptcp154 hp-roman8 mac-croatian mac-cyrillic mac-farsi mac-greek mac-iceland mac-latin2 "
    "mac-roman mac-romanian mac-turkish"
)
_ASIAN = (
    "big5 big5hkscs cp874 cp932 cp949 cp950 euc-jis-2004 euc-jisx0213 euc-jp euc-kr gb18030 gb2312 gbk hz iso2022-jp "
    "iso2022-jp-1 iso2022-jp-2 iso2022-jp-2004 iso2022-jp-3 iso2022-jp-ext iso2022-kr iso8859-11 johab shift-jis "
    "shift-jis-2004 shift-jisx0213 tis-620"
)
TEXT_ENCODINGS = frozenset(f"{_UNICODE} {_EUROPEAN} {_ASIAN}".split())


def find_text_encoding(name: str) -> str | None:
    """The codec's name of a text encoding, or None where there is no such encoding."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return found if found.replace("_", "-") in TEXT_ENCODINGS else None


def is_single_byte(name: str) -> bool:
    """Whether each byte is one character in this text encoding."""
    return len(codecs.decode(bytes(range(256)), name, "replace")) == 256
