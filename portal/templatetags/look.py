"""Tags and filters of the look: icons, pills, ids, fields, times, addresses.

One mapping from a status to its pill lives here. Must not be here: a query, or anything
that knows one app's tables.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html

from portal.lib import web

if TYPE_CHECKING:
    from django.forms import BoundField
    from django.template import Context
    from django.utils.safestring import SafeString

register = template.Library()

_SOURCE_HUES = "abcdef"
_DAY = timedelta(days=1)


class Pill(NamedTuple):
    """How a status looks: its family, its icon, its words."""

    family: str
    icon: str
    words: str


PILLS = {
    # Parsing jobs (contract 7.3)
    "upload_pending": Pill("info", "upload", "Received"),
    "started": Pill("info", "clock", "Processing"),
    "pending_review": Pill("rev", "eye", "Pending review"),
    "completed": Pill("ok", "check", "Completed"),
    "failed": Pill("bad", "x", "Failed"),
    # Interpretations (contract 7.4), and the side of the range a value lies on
    "normal": Pill("ok", "check", "Normal"),
    "abnormal": Pill("warn", "alert", "Abnormal"),
    "critical": Pill("bad", "alert", "Critical"),
    "high": Pill("warn", "alert", "High"),
    "low": Pill("warn", "alert", "Low"),
    # Connections (contract 2.4)
    "connected": Pill("ok", "check", "Connected"),
    "error": Pill("bad", "alert", "Error"),
    "paused": Pill("mute", "minus", "Paused"),
}


@register.simple_tag
def icon(name: str, size: int = 16, label: str = "") -> SafeString:
    """Draw an icon of the sprite; `label` where it stands alone and means something."""
    return format_html(
        '<svg class="icon{}" {}><use href="{}#i-{}"/></svg>',
        {12: " icon--12", 20: " icon--20"}.get(size, ""),
        format_html('role="img" aria-label="{}"', label)
        if label
        else format_html('aria-hidden="{}"', "true"),
        static("img/icons.svg"),
        name,
    )


@register.filter
def words(value: str) -> str:
    """A wire value as words: underscores to spaces, first letter up."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]


@register.simple_tag
def status_pill(value: str, says: str = "") -> SafeString:
    """The pill of a status; a value we do not know keeps its own words, outlined.

    `says` is for a place where the status's own words would say too little.
    """
    known = PILLS.get(value)
    family, glyph, text = known or Pill("unknown", "ring", words(value))
    return format_html(
        '<span class="pill pill--{}">{}{}</span>', family, icon(glyph), says or text
    )


@register.simple_tag(takes_context=True)
def page_url(context: Context, name: str, **parameters: Any) -> str:
    """The address of a dashboard page in the team and environment of the request."""
    return web.page_url(context["request"], name, **parameters)


@register.inclusion_tag("components/id.html")
def short_id(value: object) -> dict[str, str]:
    """An id with its middle left out, and a button that copies all of it."""
    whole = str(value)
    short = whole if len(whole) <= 16 else f"{whole[:8]}…{whole[-4:]}"
    return {"whole": whole, "short": short}


@register.filter
def short(value: object) -> str:
    """The first eight characters of an id, enough to tell rows apart."""
    return str(value)[:8]


@register.inclusion_tag("components/id.html")
def whole_id(value: object) -> dict[str, str]:
    """An id in full, and a button that copies it."""
    return {"whole": str(value), "short": str(value)}


@register.simple_tag
def source_badge(name: str, slug: str, large: bool = False) -> SafeString:
    """The two-letter monogram of a source, in a hue of its own."""
    letters = [part[0] for part in name.split() if part[0].isalnum()]
    text = "".join(letters[:2]) if len(letters) > 1 else name[:2]
    return format_html(
        '<span class="src src--{}{}" title="{}" aria-hidden="true">{}</span>',
        _SOURCE_HUES[crc32(slug.encode()) % len(_SOURCE_HUES)],
        " src--lg" if large else "",
        name,
        text.capitalize(),
    )


@register.inclusion_tag("components/field.html")
def field(
    bound: BoundField, label: str = "", hint: str = "", error: str = "", **attrs: Any
) -> dict[str, Any]:
    """A form field with label, hint and error; further names become its attributes.

    `error` is for a fault of the whole form that belongs under this field.
    """
    error = error or next((str(fault) for fault in bound.errors), "")
    kind = "select" if getattr(bound.field, "choices", None) else "input"
    attrs = {key.replace("_", "-"): value for key, value in attrs.items()}
    extra = attrs.pop("class", "")
    attrs = {"placeholder": False, **attrs, "class": f"{kind} {extra}".strip()}
    described = [f"{bound.id_for_label}_hint"] if hint else []
    if error:
        attrs["aria-invalid"] = "true"
        described.append(f"{bound.id_for_label}_error")
    if described:
        attrs["aria-describedby"] = " ".join(described)
    return {
        "id": bound.id_for_label,
        "label": label or bound.label,
        "hint": hint,
        "error": error,
        "control": bound.as_widget(attrs=attrs),
    }


@register.filter
def thousands(number: int) -> str:
    """2418 as 2,418."""
    return f"{number:,}"


@register.filter
def initials(text: str) -> str:
    """Up to two letters that stand for a name or an e-mail address."""
    parts = text.partition("@")[0].replace(".", " ").split()
    return "".join(part[0] for part in (parts[:1] + parts[-1:] if parts[1:] else parts))


@register.filter
def day(value: date | None) -> str:
    """12 Mar 2026, and 12 Mar in the present year. A moment counts by its UTC day."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        value = value.astimezone(UTC).date()
    this_year = value.year == timezone.now().year
    return f"{value.day} {value:%b}" + ("" if this_year else f" {value.year}")


@register.filter
def iso_day(text: str | None) -> str:
    """A date read from a report, YYYY-MM-DD, as a day; other text stays as it is."""
    try:
        return day(date.fromisoformat(text or ""))
    except ValueError:
        return text or ""


@register.simple_tag
def moment(value: datetime | None) -> SafeString | str:
    """A moment: relative within a day, else day and time; exact in the title."""
    if value is None:
        return ""
    exact = value.astimezone(UTC)
    age = timezone.now() - value
    text = (
        _ago(age) if timedelta(0) <= age < _DAY else f"{day(value)}, {exact:%H:%M} UTC"
    )
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        f"{exact:%Y-%m-%d %H:%M:%S} UTC",
        text,
    )


def _ago(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    if minutes < 1:
        return "Just now"
    return f"{minutes} min ago" if minutes < 60 else f"{minutes // 60} h ago"
