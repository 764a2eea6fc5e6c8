"""A strict HTML parser with a small document tree."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser


class Element:
    """A node of the page."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes
        self.children: list[Element | str] = []

    def all(self, tag: str, **attributes: str) -> list[Element]:
        expected = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [e for e in self.walk() if e.tag == tag and expected.items() <= e.attributes.items()]

    def walk(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def marked_text(self) -> str:
        """The text, with the inline marks instead of their symbols."""
        forms = {"mark opens": "⟦{}⟧", "mark closes": "⟦/{}⟧", "mark alone": "⟦{}/⟧"}
        parts = []
        for child in self.children:
            if isinstance(child, str):
                parts.append(child)
            elif (form := forms.get(child.attributes.get("class") or "")) is not None:
                parts.append(form.format(child.attributes["data-mark"]))
            else:
                parts.append(child.marked_text())
        return "".join(parts)


class Tree(HTMLParser):
    """Parser that requires every element to be closed, in order."""

    VOID = frozenset({"meta", "input", "rect", "path", "link"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(page)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)
