"""Block rules for markdown-it-py: blocks of Pandoc's Markdown that CommonMark would read as paragraphs.

Div fences (`:::`) and display maths (`$$`) have no text to edit. The text of a definition (`: …`) is a paragraph, and
so are the lines of a line block (`| …`); the token's `markup` holds their sign.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, paragraph

LINE_BLOCK = "|"
DEFINITION = ":"
_DIV = re.compile(r":{3,}")
_VERSE = re.compile(r"\|(?: |$)")
_DEFINITION = re.compile(r"[:~][ \t]+(?=\S)")
_ANYWHERE = ["paragraph", "reference", "blockquote", "list"]


def add_blocks(markdown: MarkdownIt) -> None:
    """Add the rules to a parser."""
    ruler = markdown.block.ruler
    ruler.after("table", "line_block", _line_block)
    ruler.after("table", "definition", _definition, {"alt": ["paragraph"]})
    ruler.after("table", "maths", _maths, {"alt": _ANYWHERE})
    ruler.after("table", "fenced_div", _fenced_div, {"alt": _ANYWHERE})


def _text(state: StateBlock, line: int) -> str:
    """A line without indent and quote signs; "" for code."""
    if state.is_code_block(line):
        return ""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _fenced_div(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return bool(_DIV.match(_text(state, start))) and _pass_through(state, start, start + 1, silent=silent)


def _maths(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if not _text(state, start).startswith("$$"):
        return False
    whole, signs = "", 0
    for line in range(start, end):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent or signs > 2:
            break
        text = _text(state, line)
        whole, signs = whole + text, signs + text.count("$$")
        if whole.endswith("$$") and len(whole) > 4:
            # With more than two signs, it is a sentence that begins and ends with maths.
            return whole.count("$$") == 2 and _pass_through(state, start, line + 1, silent=silent)
    return False


def _pass_through(state: StateBlock, start: int, end: int, *, silent: bool) -> bool:
    if not silent:
        state.line = end
        state.push("passed", "", 0).map = [start, end]
    return True


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    match = _DEFINITION.match(_text(state, start))
    if match is None:
        return False
    if silent:
        return _follows_a_term(state, start)
    saved = state.bMarks[start], state.tShift[start], state.sCount[start]
    state.bMarks[start] += state.tShift[start] + match.end()
    state.tShift[start], state.sCount[start] = 0, state.blkIndent
    count = len(state.tokens)
    state.env["definition"] = start
    paragraph(state, start, end, False)
    del state.env["definition"]
    state.tokens[count].markup = DEFINITION
    state.bMarks[start], state.tShift[start], state.sCount[start] = saved
    return True


def _follows_a_term(state: StateBlock, line: int) -> bool:
    """Whether a single line or a definition precedes; otherwise the colon may be French punctuation."""
    above = line - 1
    while above > 0 and not state.isEmpty(above - 1):
        # The sign of the definition that is being read is hidden, so its line is named in `env`.
        if above == state.env.get("definition") or _DEFINITION.match(_text(state, above)):
            return True
        above -= 1
    return above == line - 1


def _line_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if silent or not _VERSE.match(_text(state, start)):
        return False
    last = start + 1
    while last < end and _continues(state, last):
        last += 1
    opening = state.push("paragraph_open", "p", 1)
    opening.map, opening.markup = [start, last], LINE_BLOCK
    inline = state.push("inline", "", 0)
    inline.map, inline.children = [start, last], []
    texts = (_text(state, line) for line in range(start, last))
    inline.content = "\n".join(text.removeprefix("|").strip() for text in texts)
    state.push("paragraph_close", "p", -1)
    state.line = last
    return True


def _continues(state: StateBlock, line: int) -> bool:
    """Whether a line continues the line block: it has the sign, or is the indented rest of a long line."""
    if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
        return False
    return bool(_VERSE.match(_text(state, line))) or (0 < state.sCount[line] - state.blkIndent < 4)
