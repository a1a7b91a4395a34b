"""Template tags and filters: icons, pills, IDs, fields, boxes, times, URLs.

A part with few arguments is a template under components/, included with `only`. Must
not be here: a query, or anything that knows one app's tables.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Any
from zlib import crc32

from django import forms, template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join, json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.lib.languages import write_within_sentence
from portal.lib.units import format_unit
from portal.lib.web import views as web
from portal.ui.dates import (
    format_day,
    format_day_and_time,
    format_iso_day,
    format_whole_day,
)
from portal.ui.highlighting import format_json, highlight_json
from portal.ui.numbers import format_number, format_percent
from portal.ui.pills import find_status_pill, format_wire_value_as_words
from portal.ui.script_texts import list_translated_javascript_texts

if TYPE_CHECKING:
    from django.forms import BoundField
    from django.template import Context

register = template.Library()

_SOURCE_HUES = "abcdef"
_DAY = timedelta(days=1)
_NOTICE_ICONS = {"warn": "alert", "bad": "alert", "rev": "eye"}


@register.simple_tag(name="icon")
def render_icon(name: str, size: int = 16, label: str = "") -> SafeString:
    """Draw an icon of the sprite; `label` where it stands alone and means something."""
    return _draw_icon(name, size, str(label))


@lru_cache(maxsize=1024)
def _draw_icon(name: str, size: int, label: str) -> SafeString:
    return format_html(
        '<svg class="icon{}" {}><use href="{}#i-{}"/></svg>',
        {12: " icon--12", 20: " icon--20"}.get(size, ""),
        format_html('role="img" aria-label="{}"', label)
        if label
        else format_html('aria-hidden="{}"', "true"),
        static("img/icons.svg"),
        name,
    )


register.filter("words", format_wire_value_as_words)
register.filter("units", format_unit)
register.filter("small", write_within_sentence)


@register.simple_tag(name="status_pill")
def render_status_pill(value: str, says: str = "") -> SafeString:
    """Draw the pill of a status; an unknown value keeps its own words, outlined.

    `says` is for a place where the status's own words would say too little.
    """
    return _draw_pill(value, str(says), get_language())


@lru_cache(maxsize=1024)
def _draw_pill(value: str, says: str, _language: str | None) -> SafeString:
    family, glyph, text = find_status_pill(value)
    return format_html(
        '<span class="pill pill--{}">{}{}</span>',
        family,
        render_icon(glyph),
        says or text,
    )


@register.simple_tag(takes_context=True, name="page_url")
def build_page_url_for_template(context: Context, name: str, **parameters: Any) -> str:
    """Return the URL of a dashboard page in the request's team and environment."""
    return web.page_url(context["request"], name, **parameters)


@register.simple_tag(name="short_id")
def shorten_id_with_copy_button(value: object) -> SafeString:
    """Return an id with its middle left out, and a button that copies all of it."""
    whole = str(value)
    short = whole if len(whole) <= 16 else f"{whole[:8]}…{whole[-4:]}"
    return _draw_id(whole, short)


def _draw_id(whole: str, shown: str) -> SafeString:
    # No template: lists have a hundred of them, which took a tenth of their time.
    safe = escape(whole)
    label = escape(_("Copy %(whole)s") % {"whole": whole})
    return SafeString(
        f'<span class="id{" id--whole" if whole == shown else ""}">'
        f'<span title="{safe}">{escape(shown)}</span><button type="button"'
        f' data-copy="{safe}" aria-label="{label}">{render_icon("copy", 12)}'
        "</button></span>"
    )


@register.filter("short")
def shorten_id(value: object) -> str:
    """Return the first eight characters of an ID."""
    return str(value)[:8]


@register.simple_tag(name="full_id")
def render_full_id(value: object) -> SafeString:
    """Return an id in full, and a button that copies it."""
    return _draw_id(str(value), str(value))


@register.simple_tag(name="source_badge")
def render_source_badge(name: str, slug: str, large: bool = False) -> SafeString:
    """Return the two-letter monogram of a source, in a hue of its own."""
    return _draw_badge(str(name), slug, large=large)


@lru_cache(maxsize=1024)
def _draw_badge(name: str, slug: str, *, large: bool) -> SafeString:
    letters = [part[0] for part in name.split() if part[0].isalnum()]
    text = "".join(letters[:2]) if len(letters) > 1 else name[:2]
    return format_html(
        '<span class="src src--{}{}" title="{}" aria-hidden="true">{}</span>',
        _SOURCE_HUES[crc32(slug.encode()) % len(_SOURCE_HUES)],
        " src--lg" if large else "",
        name,
        text.capitalize(),
    )


@register.inclusion_tag("components/field.html", name="field")
def render_form_field(
    bound: BoundField,
    label: str = "",
    hint: str = "",
    error: str = "",
    counter: bool = False,
    switch: bool = False,
    **attrs: Any,
) -> dict[str, Any]:
    """Render a form field with label, hint and error; more names are attributes.

    Boxes and radios come as a group with a legend, one box with its label after it (as
    a `switch` where it takes effect by itself), a file as a drop zone. `error` is for a
    fault of the whole form that belongs under this field; `counter` shows how much of
    the longest length is used; an `id` tells twins on one page apart.
    """
    error = error or " ".join(str(fault) for fault in bound.errors)
    shape = _shape(bound)
    attrs = {key.replace("_", "-"): value for key, value in attrs.items()}
    name = attrs.get("id") or bound.id_for_label or bound.auto_id
    described = [f"{name}_hint"] if hint else []
    if counter:
        attrs["data-count"] = f"{name}_count"
    if error:
        described.append(f"{name}_error")
        if shape != "group":
            attrs["aria-invalid"] = "true"
    if described and shape != "group":
        attrs["aria-describedby"] = " ".join(described)
    if shape == "check" and switch:
        attrs |= {"class": "switch", "role": "switch"}
    elif shape in {"input", "select", "textarea"}:
        attrs["class"] = f"{shape} {attrs.get('class', '')}".strip()
        attrs.setdefault("placeholder", False)
    elif shape == "file":
        attrs["class"] = "vh"
    return {
        "id": name,
        "shape": shape,
        "label": label or bound.label,
        "hint": hint,
        "error": error,
        "described": " ".join(described),
        "options": list(bound) if shape == "group" else [],
        "used": len(str(bound.value() or "")),
        "limit": getattr(bound.field, "max_length", None) if counter else None,
        "control": "" if shape == "group" else bound.as_widget(attrs=attrs),
    }


def _shape(bound: BoundField) -> str:
    match bound.field.widget:
        case forms.RadioSelect():  # and several boxes, which derive from it
            return "group"
        case forms.Select():
            return "select"
        case forms.Textarea():
            return "textarea"
        case forms.CheckboxInput():
            return "check"
        case forms.FileInput():
            return "file"
        case _:
            return "input"


@register.simple_tag(name="script_texts")
def embed_script_texts() -> SafeString:
    """Write the texts of the scripts into the page, as JSON."""
    return _write_script_texts(get_language())


@lru_cache(maxsize=32)
def _write_script_texts(_language: str | None) -> SafeString:
    return json_script(list_translated_javascript_texts(), "texts")


@register.simple_tag(name="boosted")
def render_htmx_boost_attributes() -> SafeString:
    """Return attributes that make links within swap only the page's content."""
    return SafeString(
        'hx-boost:inherited="true" hx-target:inherited="#content"'
        ' hx-select:inherited="#content" hx-swap:inherited="outerHTML"'
    )


@register.simple_block_tag(name="notice")
def render_notice(content: SafeString, kind: str = "", glyph: str = "") -> SafeString:
    """Render a note that stays on the page: what happened, and what to do."""
    return format_html(
        '<div class="note{}">{}{}</div>',
        f" note--{kind}" if kind else "",
        render_icon(glyph or _NOTICE_ICONS.get(kind, "info")),
        content,
    )


@register.simple_block_tag(name="empty_state")
def render_empty_state(
    content: SafeString,
    title: str,
    art: str = "search",
    level: int = 3,
    announce: bool = False,
) -> SafeString:
    """Render why a place is empty and what to do: paragraphs, then one action.

    `art` is the drawing: `search` for no match, `report` for no data yet, `lock` for no
    access, or empty. `announce` reads the title aloud after a swap.
    """
    parts = {"art": art, "level": level, "title": title, "announce": announce}
    return render_to_string("components/empty.html", {**parts, "content": content})


@register.inclusion_tag("components/chip.html", takes_context=True, name="filter_chip")
def render_filter_chip(
    context: Context,
    words: str,
    parameter: str,
    value: str = "",
    menu: str = "",
    is_id: bool = False,
) -> dict[str, Any]:
    """Render a filter: unset it opens `menu`, set it shows `value` and a remove link.

    `parameter` names what it is in the query string, several with commas or spaces
    between.
    """
    query = context["request"].GET.copy()
    for name in (*parameter.replace(",", " ").split(), "offset", "cursor"):
        query.pop(name, None)
    return {
        "words": words,
        "value": value,
        "menu": menu,
        "is_id": is_id,
        # A bare address would open the list as its member's default view.
        "remove": f"?{query.urlencode() or 'view=all'}",
    }


@register.simple_block_tag(name="menu")
def render_menu(
    content: SafeString, name: str, label: str, long: bool = False
) -> SafeString:
    """Render what `popovertarget="name"` opens: links, then destructive buttons."""
    return format_html(
        '<div class="menu{}" id="{}" popover aria-label="{}">{}</div>',
        " menu--long" if long else "",
        name,
        label,
        content,
    )


@register.simple_tag(name="shortcut")
def render_keyboard_shortcut(
    keys: str, words: str, go: str = "", press: str = "", focus: str = ""
) -> SafeString:
    """Return a line of the page's key sheet; `keys` are typed one after the other.

    `go` is an address to open, `press` a selector to click, `focus` one to focus. With
    none of them a module of the page acts on the key itself.
    """
    does = (("go", go), ("press", press), ("focus", focus))
    then = format_html('<span class="muted"> {} </span>', _("then"))
    return format_html(
        '<div data-keys="{}"{}><dt>{}</dt><dd>{}</dd></div>',
        keys,
        # A selector is a literal of the template, which counts as escaped.
        format_html_join(
            "",
            ' data-{}="{}"',
            ((name, escape(value)) for name, value in does if value),
        ),
        words,
        format_html_join(then, "<kbd>{}</kbd>", ((key,) for key in keys.split(" "))),
    )


@register.simple_block_tag(name="dialog")
def render_dialog(
    content: SafeString, name: str, title: str, wide: bool = False
) -> SafeString:
    """Render a dialog opened by `data-dialog="name"`: body and foot, or a form."""
    return format_html(
        '<dialog class="dialog{}" id="{}" data-light aria-labelledby="{}-h">'
        '<div class="dialog__head"><h2 id="{}-h">{}</h2>{}</div>{}</dialog>',
        " dialog--wide" if wide else "",
        name,
        name,
        name,
        title,
        format_html(
            '<button class="btn btn--ghost btn--icon btn--sm" type="button"'
            ' data-close aria-label="{}">{}</button>',
            _("Close"),
            render_icon("x"),
        ),
        content,
    )


@register.simple_block_tag(name="codebox")
def render_code_box(content: SafeString, title: str, label: str = "") -> SafeString:
    """Render text to copy, such as a call, under its title. Its content is escaped."""
    text = unescape(content).strip("\n")
    return _codebox(title, label or _("Example call"), text, format_html("{}", text))


@register.simple_tag(name="json_box")
def render_json_box(title: str, value: object) -> SafeString:
    """Render a value as highlighted JSON, under its title, with a copy button."""
    text = format_json(value)
    return _codebox(title, title, text, highlight_json(text))


def _codebox(title: str, label: str, text: str, shown: SafeString) -> SafeString:
    return format_html(
        '<div class="codebox"><div class="codebox__head"><b>{}</b>{}</div>'
        '<pre class="code code--max" tabindex="0" role="region" aria-label="{}">{}'
        "</pre></div>",
        title,
        render_copy_button(text),
        label,
        shown,
    )


@register.simple_tag(name="copy_button")
def render_copy_button(text: str, words: str = "") -> SafeString:
    """Return a small button that puts `text` on the clipboard."""
    return format_html(
        '<button class="btn btn--ghost btn--sm" type="button" data-copy="{}">{}{}'
        "</button>",
        text,
        render_icon("copy"),
        words or _("Copy"),
    )


@register.filter("translated")
def translate_stored_words(text: str) -> str:
    """Translate words that Assay stored in English; what people wrote stays."""
    return _(text) if text else ""


register.filter("thousands", format_number)
register.filter("percent", format_percent)


@register.filter("milliseconds")
def format_milliseconds(number: float) -> str:
    """Write 182 as 182 ms, 10040 as 10.0 s."""
    return f"{number:.0f} ms" if number < 1000 else f"{number / 1000:.1f} s"


@register.filter("duration")
def format_seconds(seconds: int) -> str:
    """Write 90 as 90 s, 600 as 10 min, 7500 as 2 h 5 min."""
    minutes = seconds // 60
    if minutes < 2:
        return f"{seconds} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@register.filter("initials")
def build_initials(text: str) -> str:
    """Return up to two letters that stand for a name or an email address."""
    parts = text.partition("@")[0].replace(".", " ").split()
    return "".join(part[0] for part in (parts[:1] + parts[-1:] if parts[1:] else parts))


register.filter("day", format_day)
register.filter("whole_day", format_whole_day, expects_localtime=True)
register.filter("day_and_time", format_day_and_time, expects_localtime=True)


register.filter("iso_day", format_iso_day)


@register.simple_tag(name="this_moment")
def get_this_moment() -> datetime:
    """Return the time that a page is drawn at, in the reader's zone."""
    return timezone.localtime()


@register.simple_tag(name="relative_time")
def render_relative_time(
    value: datetime | None, *, in_sentence: bool = False
) -> SafeString | str:
    """Return how long ago a time was within a day, else its day and time.

    The title has the exact time. Times are in the reader's zone, which the dashboard's
    middleware activates. `in_sentence` begins the text in lower case, for a place
    after other words.
    """
    if value is None:
        return ""
    here = timezone.localtime(value)
    age = timezone.now() - value
    is_recent = timedelta(0) <= age < _DAY
    if is_recent:
        text = _format_age(age, in_sentence=in_sentence)
    else:
        text = f"{format_day(value)}, {here:%H:%M %Z}"
    # Not by format_html: of four parts the text alone may hold what HTML would read.
    shown = ' class="ago"' if is_recent else ""  # on paper the title is shown
    at = value.astimezone(UTC).isoformat(timespec="seconds")
    return SafeString(
        f'<time{shown} datetime="{at}" title="{here:%Y-%m-%d %H:%M:%S %Z}">'
        f"{escape(text)}</time>"
    )


def _format_age(age: timedelta, *, in_sentence: bool) -> str:
    minutes = int(age.total_seconds() // 60)
    if minutes < 1:
        return _("just now") if in_sentence else _("Just now")
    if minutes < 60:
        return _("%(minutes)d min ago") % {"minutes": minutes}
    return _("%(hours)d h ago") % {"hours": minutes // 60}
