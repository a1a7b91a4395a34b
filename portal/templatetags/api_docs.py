"""Filters of the API reference: texts of the document as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

register = template.Library()


@register.filter("marked_code")
def mark_code(text: str) -> SafeString:
    """Write what is between backticks as code, the rest escaped."""
    parts = text.split("`")
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code>{}</code>", part) if number % 2 else part,)
            for number, part in enumerate(parts)
        ),
    )


@register.filter("paragraphs")
def write_paragraphs(text: str) -> SafeString:
    """Write paragraphs that empty lines separate; other line ends are blanks."""
    return format_html_join(
        "",
        "<p>{}</p>",
        ((mark_code(" ".join(part.split())),) for part in text.split("\n\n")),
    )
