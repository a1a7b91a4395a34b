"""Collection instructions for patients.

They name no patient, so that they can be handed out, and are in the language of whoever
follows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import translation
from django.utils.translation import gettext as _

from labs.documents.guides import get_collection_guide
from labs.documents.sheet import MARGIN, WIDTH, Sheet
from labs.documents.typeface import BOLD, break_text_into_lines, measure_text_width
from labs.states.catalogue import CollectionMethod, SampleType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.models import LabTest

_SIZE = 11.0
_LEADING = 1.4
_INDENT = 22.0


@dataclass(frozen=True, slots=True)
class OrderNumbers:
    """The ids of an order printed on its instructions."""

    order_id: str
    sample_id: str


def render_collection_instructions(
    panel: LabTest, *, language: str, of: OrderNumbers | None = None
) -> bytes:
    """Render the instructions of a panel, or of one order of it, in a language."""
    with translation.override(language):
        return _render(panel, of)


def _render(panel: LabTest, of: OrderNumbers | None) -> bytes:
    method = CollectionMethod.known(panel.method)
    kind = SampleType.known(panel.sample_type)
    guide = get_collection_guide(
        method=panel.method, sample_type=panel.sample_type, fasting=panel.fasting
    )
    foot = (
        _("Order %(id)s") % {"id": of.order_id}
        if of
        else _("Test %(id)s") % {"id": panel.pk}
    )
    title = _("Collection instructions")
    sheet = Sheet(title=title, running_head=title, foot=foot)
    sheet.y += 20
    sheet.write_line(_("How to take your sample"), size=22, font=BOLD)
    sheet.y += 8
    sheet.write_paragraph(panel.name, size=12)
    sheet.y += 6
    about = [
        (_("Collection"), str(method.label) if method else panel.method),
        (_("Sample"), str(kind.label) if kind else panel.sample_type),
        (_("Lab"), panel.lab.name),
    ]
    if of:
        about += [(_("Sample ID"), of.sample_id), (_("Order"), of.order_id)]
    for label, text in about:
        _write_pair(sheet, label, text)
    _write_points(sheet, _("Before you start"), guide.before, marks=("\N{BULLET}",))
    _write_points(
        sheet,
        _("Step by step"),
        guide.steps,
        marks=[f"{number}." for number in range(1, len(guide.steps) + 1)],
    )
    _write_points(sheet, _("After collection"), guide.after, marks=("\N{BULLET}",))
    sheet.y += 12
    sheet.write_paragraph(
        _(
            "If you feel unwell or can't follow a step, stop and call your clinic. In"
            " an emergency, call 911."
        ),
        size=_SIZE - 1,
        grey=0.3,
    )
    return sheet.to_pdf()


def _write_pair(sheet: Sheet, label: str, text: str) -> None:
    if not text:
        return
    lines = break_text_into_lines(text, _SIZE, WIDTH - 80)
    for number, line in enumerate(lines):
        sheet.ensure_room(_SIZE * _LEADING)
        sheet.y += _SIZE * _LEADING
        if number == 0:
            sheet.write_line(label, size=_SIZE - 1, grey=0.38)
        sheet.write_line(line, x=MARGIN + 80, size=_SIZE)


def _write_points(
    sheet: Sheet, title: str, texts: Sequence[str], *, marks: Sequence[str]
) -> None:
    """Write a heading and its points; a point never splits across pages."""
    if not texts:
        return
    sheet.y += 26
    sheet.ensure_room(3 * _SIZE * _LEADING + 20)
    sheet.write_line(title, size=14, font=BOLD)
    sheet.y += 4
    for number, text in enumerate(texts):
        lines = break_text_into_lines(text, _SIZE, WIDTH - _INDENT)
        sheet.ensure_room(len(lines) * _SIZE * _LEADING + 5)
        sheet.y += 4
        mark = marks[number % len(marks)]
        for line_number, line in enumerate(lines):
            sheet.y += _SIZE * _LEADING
            if line_number == 0:
                end = MARGIN + _INDENT - 8 - measure_text_width(mark, _SIZE, font=BOLD)
                sheet.write_line(mark, x=end, size=_SIZE, font=BOLD)
            sheet.write_line(line, x=MARGIN + _INDENT, size=_SIZE)
