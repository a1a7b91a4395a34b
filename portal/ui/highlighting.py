"""JSON in colours, made on the server: every token is escaped, then wrapped."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from collections.abc import Iterator

# A string and whether a colon makes it a key; a number; a literal; what is between.
_TOKEN = re.compile(
    r'(?P<k>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<s>"(?:[^"\\]|\\.)*")'
    r"|(?P<n>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<l>true|false|null)"
    r"|(?P<plain>.)",
    re.DOTALL,
)


def format_json(value: object) -> str:
    """Format a value as JSON, indented by two; other types are written as text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def highlight_json(text: str) -> SafeString:
    """Return JSON text as HTML: keys, strings, numbers, literals in `k s n l` spans.

    Text that is no JSON comes back escaped, its look-alikes coloured: nothing is lost.
    """
    return SafeString("".join(_spans(text)))


def _spans(text: str) -> Iterator[str]:
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "plain":
            yield escape(token[0])
        else:
            yield format_html('<span class="{}">{}</span>', kind, token[0])
