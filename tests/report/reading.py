"""A page as a tree, from the standard library's parser."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "path", "polygon"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    parts: "list[Node | str]" = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, *tags: str, **attributes: str) -> "list[Node]":
        """Return every node below with one of these tags and these attributes, in the order of the page."""
        found = []
        for part in self.parts:
            if isinstance(part, Node):
                if part.tag in tags and all(part.attributes.get(_written(k)) == v for k, v in attributes.items()):
                    found.append(part)
                found += part.all(*tags, **attributes)
        return found


class Reader(HTMLParser):
    """Builds the tree, and insists that what was opened last is closed first."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = [Node("document", {})]

    @classmethod
    def read(cls, text: str) -> Node:
        reader = cls()
        reader.feed(text)
        reader.close()
        (document,) = reader.stack
        return document

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].parts.append(node)
        if tag not in VOID:
            self.stack.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.stack[-1].parts.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.stack[-1].parts.append(data)


def _written(name: str) -> str:
    """Return an attribute as HTML writes it: class_ is class, aria_label is aria-label."""
    return name.strip("_").replace("_", "-")
