"""Turns a Markdown page into HTML of the portal's look, and into text to search.

Raw HTML in a page stays text. Links between pages become addresses of the portal.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from portal.templatetags.look import render_code_box, render_json_box

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.token import Token

LANGUAGES = {
    "": "Shell",
    "sh": "Shell",
    "python": "Python",
    "json": "JSON",
    "text": "Text",
}
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_MOVE = re.compile(r"^\s*(\w+) --> (\w+|\[\*\])$", re.MULTILINE)
_LISTED_LEVELS = {"h2", "h3"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page, with the anchor that leads to it."""

    anchor: str
    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading. `anchor` is empty above the first heading."""

    anchor: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as HTML without its title, and what is found in it."""

    title: str
    html: SafeString
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]


def render_markdown(text: str, *, resolve: Callable[[str], str | None]) -> Rendered:
    """Return a Markdown page as HTML.

    `resolve` gets the target of each link and returns its address, or None for a link
    that leads nowhere here; its text then stays without a link.
    """
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    parser.enable("table")
    tokens = parser.parse(_COMMENT.sub("", text))
    title, tokens = _take_title(tokens)
    headings = _mark_headings(tokens)
    _mark_blocks(tokens, title)
    for token in tokens:
        if token.type == "inline":
            _resolve_links(token, resolve)
    html = parser.renderer.render(tokens, parser.options, {})
    return Rendered(
        title=title,
        html=SafeString(html),
        headings=tuple(headings),
        sections=tuple(_collect_sections(tokens)),
    )


def make_heading_anchor(text: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _plain(token: Token) -> str:
    """Return the text of an inline token, without its markup."""
    return "".join(
        " " if each.type in ("softbreak", "hardbreak") else each.content
        for each in token.children or ()
    )


def _take_title(tokens: list[Token]) -> tuple[str, list[Token]]:
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _plain(tokens[1]), tokens[3:]
    return "", tokens


def _mark_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give each heading its anchor; a heading links to itself."""
    found: list[Heading] = []
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = _plain(inline)
        anchor = make_heading_anchor(text)
        seen[anchor] = seen.get(anchor, 0) + 1
        if seen[anchor] > 1:
            anchor = f"{anchor}-{seen[anchor] - 1}"
        opening.attrSet("id", anchor)
        link = inline.children[0].copy() if inline.children else None
        if link is not None:
            link.type, link.tag, link.nesting = "link_open", "a", 1
            link.content, link.attrs = "", {"href": f"#{anchor}"}
            closing = link.copy()
            closing.type, closing.nesting, closing.attrs = "link_close", -1, {}
            inline.children = [link, *(inline.children or ()), closing]
        if opening.tag in _LISTED_LEVELS:
            found.append(Heading(anchor, text, int(opening.tag[1])))
    return found


def _mark_blocks(tokens: Sequence[Token], title: str) -> None:
    """Give tables a caption, cells the label of their column, samples a unique one."""
    heading = title
    samples: dict[str, int] = {}
    labels: list[str] = []
    column = 0
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _plain(tokens[index + 1])
        elif token.type in ("fence", "code_block"):
            samples[heading] = samples.get(heading, 0) + 1
            token.meta["label"] = f"{heading}, {samples[heading]}"
        elif token.type == "table_open":
            labels = []
            token.meta["caption"] = heading
        elif token.type == "th_open":
            token.attrs = {"scope": "col"}
            labels.append(_plain(tokens[index + 1]))
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            token.attrs = {"data-label": labels[column]}
            column += 1


def _resolve_links(inline: Token, resolve: Callable[[str], str | None]) -> None:
    kept: list[Token] = []
    dropped = False
    for child in inline.children or ():
        if child.type == "link_open":
            address = resolve(str(child.attrs.get("href", "")))
            dropped = address is None
            if dropped:
                continue
            child.attrs["href"] = address or ""
        elif child.type == "link_close" and dropped:
            dropped = False
            continue
        kept.append(child)
    inline.children = kept


class _Renderer(RendererHTML):
    """Renders code and tables as the portal's own; a method is named like its token."""

    def fence(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        token = tokens[index]
        language = token.info.partition(" ")[0]
        code = token.content.rstrip("\n")
        if language == "mermaid":
            return _render_moves(code)
        if language == "json":
            with contextlib.suppress(ValueError):
                return render_json_box("JSON", json.loads(code))
        name = LANGUAGES.get(language, language)
        return render_code_box(SafeString(escape(code)), name, token.meta["label"])

    def code_block(self, tokens: Sequence[Token], index: int, *rest: Any) -> str:
        return self.fence(tokens, index, *rest)

    def table_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return format_html(
            '<div class="tablewrap"><table class="table table--doc">'
            '<caption class="vh">{}</caption>\n',
            tokens[index].meta["caption"],
        )

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"


def _render_moves(diagram: str) -> str:
    """Return a state diagram as a list: each status with those that may follow."""
    following: dict[str, list[str]] = {}
    for status, new in _MOVE.findall(diagram):
        following.setdefault(status, []).append(new)
    lines = [
        format_html(
            "<li><code>{}</code>: {}</li>",
            status,
            SafeString(
                ", ".join(
                    "end" if new == "[*]" else format_html("<code>{}</code>", new)
                    for new in after
                )
            ),
        )
        for status, after in following.items()
    ]
    return f"<ul>{''.join(lines)}</ul>\n"


def _collect_sections(tokens: Sequence[Token]) -> list[Section]:
    sections: list[Section] = []
    anchor, heading = "", ""
    texts: list[str] = []
    in_heading = False
    for token in tokens:
        if token.type == "heading_open":
            if texts or heading:
                sections.append(Section(anchor, heading, " ".join(texts)))
            anchor, heading, texts = str(token.attrs["id"]), "", []
            in_heading = True
        elif token.type == "heading_close":
            in_heading = False
        elif token.type == "inline" and in_heading:
            heading = _plain(token)
        elif token.type == "inline":
            texts.append(_plain(token))
        elif token.type in ("fence", "code_block"):
            texts.append(" ".join(token.content.split()))
    if texts or heading:
        sections.append(Section(anchor, heading, " ".join(texts)))
    return sections
