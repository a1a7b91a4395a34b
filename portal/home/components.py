"""The components page: every part of the design with its states, for operators.

What it shows is made up here.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from django import forms
from django.http import Http404
from django.templatetags.static import static
from django.views.decorators.http import require_GET

from portal.lib.web.views import Pager, page_url, render_page
from portal.ui.body_charts import (
    CycleDay,
    Lane,
    Stretch,
    draw_menstrual_cycle_chart,
    draw_share_bar,
    draw_sleep_stage_chart,
)
from portal.ui.charts import (
    draw_hourly_arrivals_strip,
    draw_reference_range_bar,
    draw_sparkline,
)
from portal.ui.parts import (
    Happening,
    PagePicture,
    Place,
    Region,
    ReviewRow,
    Slot,
    SlotDay,
    Stage,
)
from portal.ui.pills import PILLS
from portal.ui.place_map import MapPin, MapTown, draw_place_map

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest

_DAY = datetime(2026, 11, 15, 11, 4, tzinfo=UTC)
_UNKNOWN_STATUS = "awaiting_partner_hold"
_LANES = (
    Lane("Awake", "awake"),
    Lane("REM", "rem"),
    Lane("Light", "light"),
    Lane("Deep", "deep"),
)
# Lane and minutes; None is time without data.
_NIGHT = (
    *((0, 12), (2, 25), (3, 38), (2, 20), (1, 10), (2, 30), (3, 25), (2, 20)),
    *((1, 22), (None, 18), (2, 40), (0, 6), (1, 30), (2, 35), (1, 28), (0, 8)),
)
_FLOWS = (("Light", 1), ("Heavy", 3), ("Heavy", 3), ("Medium", 2), ("Light", 1))
_OVULATION_DAY = 14
_LOGGED_DAYS = 20
_CYCLE_DAYS = 28


class ExampleForm(forms.Form):
    """A field of every kind, and some that are wrong."""

    text = forms.CharField(label="Label", required=False)
    zip_code = forms.RegexField(
        r"^\d{5}$",
        label="With an error",
        error_messages={"invalid": "Enter a 5-digit zip code."},
    )
    source = forms.ChoiceField(label="Select", choices=[("", "All sources")])
    number = forms.IntegerField(label="Number", min_value=1)
    on = forms.DateField(
        label="Date", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    password = forms.CharField(label="Password", widget=forms.PasswordInput)
    comment = forms.CharField(
        label="Comment",
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    partial = forms.BooleanField(label="Send partial results")
    agreed = forms.BooleanField(
        label="Hold for human review", error_messages={"required": "Tick the box."}
    )
    reason = forms.ChoiceField(
        label="Reason",
        choices=[("lab", "Incorrect lab"), ("other", "Other")],
        widget=forms.RadioSelect,
    )
    roles = forms.MultipleChoiceField(
        label="Roles",
        choices=[("admin", "Admin"), ("clinician", "Clinician"), ("viewer", "Viewer")],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one role at least."},
    )
    file = forms.FileField(label="Drop a file or choose one", required=False)


@require_GET
def show_component_gallery(request: TenantRequest) -> HttpResponse:
    """Show every interface component with its states, to operators only."""
    if not request.member.is_staff:
        raise Http404
    return render_page(
        request,
        "portal/components.html",
        form=_example_form(),
        statuses=[*PILLS, _UNKNOWN_STATUS],
        spark=draw_sparkline([4, 6, 5, 9, 8, 12, 11, 15], says="Rising for a week"),
        bars=_bars(),
        arrivals=draw_hourly_arrivals_strip(
            (*(0, 3, 5, 0, 8, 13, 21, 8, 0, 5, 3, 2), *([0] * 6), *range(6)),
            says="Data in 14 of 24 hours",
        ),
        hypnogram=_hypnogram(),
        shares=draw_share_bar(
            [(_LANES[1], 5400), (_LANES[2], 14400), (_LANES[3], 4500)],
            says="REM 1 h 30 min, light 4 h, deep 1 h 15 min",
        ),
        cycle=_cycle(),
        first_page=Pager(total=2418, offset=0, limit=50),
        middle_page=Pager(total=2418, offset=1200, limit=50),
        page_sizes=(25, 50, 100, 500),
        stages=_stages(),
        kit_stages=_kit_stages(),
        happenings=_happenings(),
        places=_places(),
        place_map=draw_place_map(
            [
                MapPin(place.number, *offset, place.name, f"place-{place.key}")
                for place, offset in zip(_places(), _OFFSETS, strict=True)
            ],
            (MapTown("Chicago", 4.0, -4.2), MapTown("Evanston", 0.4, 6.8)),
            middle="60618",
            chosen=1,
            says="Map of five places around 60618",
        ),
        days=_days(),
        chosen_day=date(2026, 11, 19),
        slots=_slots(),
        document=_document(),
        document_pages=[(1, "?page=1"), (2, "?page=2")],
        rows=_rows(),
        event={
            "event_type": "lab_report.parsing_job.updated",
            "data": {"id": "0c9f", "pages": 2, "confidence": 0.94, "note": None},
            "client_user_id": "mbr_<20418>",
            "is_test": True,
        },
        here_url=page_url(request, "components"),
    )


def _example_form() -> ExampleForm:
    form = ExampleForm(
        {
            "zip_code": "606",
            "number": "3",
            "on": "2026-11-19",
            "comment": "Fasting draw.",
            "partial": "on",
            "reason": "lab",
        }
    )
    form.is_valid()
    for name in form.errors.keys() - {"zip_code", "agreed", "roles"}:
        del form.errors[name]
    return form


def _bars() -> list[tuple[str, object]]:
    return [
        ("In range, 4.2", draw_reference_range_bar(4.2, low=3.5, high=5.1)),
        ("High, 5.6", draw_reference_range_bar(5.6, low=3.5, high=5.1)),
        ("Upper bound only, 92", draw_reference_range_bar(92, low=None, high=90)),
        ("Lower bound only, 64", draw_reference_range_bar(64, low=40, high=None)),
        ("Low, 18", draw_reference_range_bar(18, low=30, high=200)),
    ]


def _hypnogram() -> SafeString:
    stretches, at = [], 0
    for lane, minutes in _NIGHT:
        if lane is not None:
            stretches.append(Stretch(lane, at, at + minutes * 60))
        at += minutes * 60
    start = _DAY.replace(hour=23, minute=10)
    return draw_sleep_stage_chart(
        stretches,
        lanes=_LANES,
        start=start,
        end=start + timedelta(seconds=at),
        says="6 h 07 min in bed, with a hole of 18 min",
    )


def _cycle() -> SafeString:
    days = []
    for number in range(1, _CYCLE_DAYS + 3):
        flow, level = _FLOWS[number - 1] if number <= len(_FLOWS) else ("", 0)
        is_logged = number <= _LOGGED_DAYS
        warm = 0.35 if number > _OVULATION_DAY else 0.0
        days.append(
            CycleDay(
                date=_DAY.date() + timedelta(days=number - _LOGGED_DAYS),
                number=number,
                flow=flow,
                flow_level=level,
                temperature=36.4 + warm + 0.04 * (number % 3) if is_logged else None,
                test={12: "Negative", 13: "Positive"}.get(number, ""),
                is_positive=number == _OVULATION_DAY - 1,
                is_fertile=_OVULATION_DAY - 5 <= number <= _OVULATION_DAY,
                is_predicted=number > _CYCLE_DAYS,
                is_today=number == _LOGGED_DAYS,
            )
        )
    return draw_menstrual_cycle_chart(days, says="Day 20 of about 28", cover_line=36.6)


def _stages() -> list[Stage]:
    return [
        Stage("Ordered", "done", at=_DAY),
        Stage("Requisition ready", "done", at=_DAY + timedelta(minutes=1)),
        Stage("Collecting sample", "now", note="Visit on Thu 19 Nov"),
        Stage("With the lab", note="Usually 1 day later"),
        Stage("Results", note="Expected 23 Nov"),
    ]


def _kit_stages() -> list[Stage]:
    return [
        Stage("Ordered", "done", at=_DAY),
        Stage("Kit sent", "done", at=_DAY + timedelta(days=1)),
        Stage("Collecting sample", "now", note="Held by the carrier", has_problem=True),
        Stage("With the lab"),
        Stage("Results"),
    ]


def _happenings() -> list[Happening]:
    return [
        Happening(
            "Appointment booked",
            _DAY + timedelta(minutes=17),
            icon="calendar",
            kind="now",
            detail="Northgate Service Center, Belmont, Thu 19 Nov at 08:40",
            raw="collecting_sample.walk_in_test.appointment_scheduled",
        ),
        Happening(
            "Earlier slot released",
            _DAY + timedelta(minutes=14),
            icon="replay",
            kind="warn",
            detail="Wed 18 Nov at 07:20 was moved by the user",
            raw="collecting_sample.walk_in_test.appointment_cancelled",
        ),
        Happening(
            "Requisition ready",
            _DAY + timedelta(minutes=1),
            kind="ok",
            detail="2 pages, account comment added to yours",
            raw="received.walk_in_test.requisition_created",
        ),
        Happening(
            "Order received",
            _DAY,
            icon="doc",
            detail="Lab account chosen automatically",
            raw="received.walk_in_test.ordered",
        ),
    ]


# Miles east and north of 60618.
_OFFSETS = ((0.3, -0.7), (1.7, 1.7), (2.4, -1.6), (4.3, -3.6), (-5.1, -10.1))


def _places() -> list[Place]:
    return [
        Place("belmont", 1, "Northgate, Belmont", "2114 W Belmont Ave", 0.8, "14:20"),
        Place("uptown", 2, "Northgate, Uptown", "4700 N Broadway", 2.4, "07:10"),
        Place("lakeview", 3, "Lakeview Draw Station", "3044 N Lincoln Ave", 2.9),
        Place("loop", 4, "Northgate, Loop", "55 E Monroe St", 5.6, "06:40"),
        Place("river", 5, "Riverside Center", "1100 S Harlem Ave", 11.3, "Fri 20 Nov"),
    ]


def _days() -> list[SlotDay]:
    free = (5, 12, 9, 7, 4, 0, 3, 5, 12, 0, 7, 4, 0, 3)
    first = date(2026, 11, 17)
    return [SlotDay(first + timedelta(days=at), n) for at, n in enumerate(free)]


def _slots() -> list[Slot]:
    times = ("06:40", "07:00", "07:20", "07:40", "08:00", "08:20", "08:40", "09:00")
    return [Slot(time, time, is_taken=time in {"07:00", "08:00"}) for time in times]


def _document() -> PagePicture:
    return PagePicture(
        url=static("img/example-page.svg"),
        alt="Page 1 of an example report with three results in a table",
        width=1000,
        height=560,
        regions=(
            Region("chol", "Cholesterol, 204 mg/dL", 68, 217, 864, 44),
            Region("k", "Potassium, 4.4 mmol/L", 68, 277, 864, 44),
            Region("fer", "Ferritin, 18 ng/mL", 68, 337, 864, 44, is_unsure=True),
        ),
    )


def _rows() -> list[ReviewRow]:
    return [
        ReviewRow("fer", "Ferritin", "18", "ng/mL", "30 to 200", "2276-4", 64),
        ReviewRow(
            "chol", "Cholesterol", "204", "mg/dL", "under 200", "2093-3", 99, True
        ),
        ReviewRow("k", "Potassium", "4.4", "mmol/L", "3.5 to 5.1", "", 97, True),
    ]
