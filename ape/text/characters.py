"""Characters that no text of a book contains, as a regular expression and as JSON-schema patterns."""

from __future__ import annotations

import re

# All control characters except tab, line feed and carriage return.
_CONTROLS = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f"
# Lone surrogates can't be encoded in UTF-8, so they can't occur in JSON and the schema patterns omit them.
UNREADABLE_CHARACTER = re.compile(rf"[{_CONTROLS}\ud800-\udfff]")

_READABLE = f"[^{_CONTROLS}]"
_VISIBLE = r"[^\u0000-\u0020\u007f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
READABLE_PATTERN = f"^{_READABLE}*$"
NOT_BLANK_PATTERN = f"^{_READABLE}*{_VISIBLE}{_READABLE}*$"
