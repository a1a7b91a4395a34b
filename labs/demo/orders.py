"""Demo orders of the last weeks, by every collection method and in many states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from labs.demo.results import backdate_demo_results
from labs.gateways.sandbox_results import SimulationFlags
from labs.models import LabTest, Order, OrderEvent, OrderTransaction
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.order_status.due_dates import compute_result_due_dates
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import cancel_order, import_order, place_order
from labs.operations.orders.plans import OrderRequest
from labs.operations.orders.recreations import RecreationRequest, recreate_order
from labs.operations.orders.redraws import place_redraw_order
from labs.operations.simulation.orders import advance_order_to_goal
from labs.states.orders import (
    Interpretation,
    OrderStatusDetail,
    UpdateReason,
    build_order_status,
    split_order_status,
)
from labs.states.turnaround import is_sample_drawn_or_at_lab
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from accounts.declarations.demo_data import DemoPerson, DemoScene
    from accounts.models import Tenant


@dataclass(frozen=True, slots=True)
class _DemoOrder:
    """A demo order and how far it advances.

    `panel` is the reference slug of its panel, `days` how many days ago each of its
    steps was taken, first to last, 0 within the last hour, `goals` the low-level
    statuses it was walked to in turn, `detail` that of the last; `lies` says how the
    results are to lie that a goal brings, `normal` where it says nothing. It ends as
    `cancelled` says why, or goes on as `redraw` or `recreation`. `starts_in` are the
    days to a scheduled start.
    """

    panel: str
    days: tuple[int, ...]
    goals: tuple[str, ...] = ()
    detail: str = ""
    lies: tuple[Interpretation, ...] = ()
    has_missing_results: bool = False
    cancelled: str = ""
    redraw: _DemoOrder | None = None
    recreation: _DemoOrder | None = None
    starts_in: int | None = None
    is_registrable: bool = False
    is_import: bool = False
    priority: bool = False
    comments: str = ""


_NORMAL, _ABNORMAL, _CRITICAL = (
    Interpretation.NORMAL,
    Interpretation.ABNORMAL,
    Interpretation.CRITICAL,
)
# Fictional; by a person's place in the scene.
# First name, last name, gender, birth, street, city, state, ZIP code.
_PATIENTS = tuple(
    tuple(line.split("|"))
    for line in (
        "Helena|Marsh|female|1979-04-12|14 Orchard Row|Tempe|AZ|85281",
        "Owen|Castellan|male|1992-09-03|220 Quarry Lane|New York|NY|10016",
        "Walter|Ingram|male|1961-11-02|7 Saguaro Court|Phoenix|AZ|85004",
        "Lotte|Bramhall|female|1985-01-26|31 Mill Street|Tucson|AZ|85701",
        "Desmond|Pike|male|1979-06-12|480 Lakeside Drive|Evanston|IL|60201",
        "Yara|Sandoval|female|1996-12-08|9 Harbor View|San Diego|CA|92101",
        "Ines|Calloway|female|1990-03-30|56 Juniper Street|Austin|TX|78701",
        "Theo|Vandermeer|male|1983-07-21|118 Alder Avenue|Oakland|CA|94607",
        "Saara|Whitlock|female|1974-10-15|3 Birch Hollow|Duluth|MN|55802",
        "Marcus|Eddington|male|1968-02-05|77 Foundry Road|Pittsburgh|PA|15222",
        "Anika|Holloway|female|1999-08-19|205 Cedar Street|Seattle|WA|98101",
        "Rohan|Tremaine|male|1987-05-28|62 Canal Street|Newark|NJ|07102",
        "Edith|Lockhart|female|1979-08-30|19 Rosewood Place|Raleigh|NC|27601",
        "Caleb|Nordstrom|male|1994-11-11|840 Pine Street|Denver|CO|80202",
        "Bianca|Fairweather|female|1981-04-02|26 Elm Terrace|Buffalo|NY|14202",
        "Julian|Ashby|male|1976-09-24|11 Magnolia Way|Chattanooga|TN|37402",
    )
)
_PHYSICIAN = {"first_name": "Nora", "last_name": "Whitfield", "npi": "1234567893"}

# By a person's place in the scene.
_COURSES: tuple[tuple[_DemoOrder, ...], ...] = (
    (
        _DemoOrder(
            "quest-essential-health",
            (41, 41, 38, 37),
            ("completed",),
            lies=(_ABNORMAL,),
        ),
        _DemoOrder(
            "quest-cardiometabolic",
            (5, 5, 0),
            ("partial_results",),
            lies=(_CRITICAL,),
        ),
        _DemoOrder("quest-lipid-panel", (2, 2), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "ussl-thyroid-kit", (33, 33, 32, 29, 29, 26, 23, 20), ("completed",)
        ),
        _DemoOrder("quest-lipid-panel", (1, 1), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "sonora-quest-general-health-at-home",
            (25, 25, 25, 24, 21, 18),
            ("completed",),
            lies=(_ABNORMAL,),
        ),
        _DemoOrder(
            "ussl-heart-and-metabolism-kit",
            (13, 13, 12, 10, 10, 6, 3),
            ("transit_lab", "problem_in_transit_lab"),
        ),
        _DemoOrder("quest-lipid-panel", (4, 4), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "quest-anemia-work-up",
            (14, 14, 6),
            ("requisition_created",),
            redraw=_DemoOrder("", (6, 6), ("requisition_created",)),
            comments="Tired for three months. Takes no iron.",
        ),
        _DemoOrder("quest-essential-health-at-home", (2, 2), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "quest-workplace-wellness",
            (18, 18, 17, 15),
            ("completed",),
            has_missing_results=True,
        ),
        _DemoOrder(
            "ussl-thyroid-kit",
            (9, 9, 8, 6, 6),
            ("with_customer",),
            is_registrable=True,
        ),
        _DemoOrder("quest-lipid-panel", (5, 5), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "ayumetrix-hormones-kit",
            (16, 16, 15, 13, 13, 9, 6, 4),
            ("delivered_to_lab", "lab_processing_blocked"),
            OrderStatusDetail.DEMOGRAPHIC_INFORMATION_MISMATCH,
        ),
        _DemoOrder("quest-lipid-panel", (1,), starts_in=6),
        _DemoOrder("quest-essential-health-at-home", (3, 3), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "quest-thyroid-full",
            (11, 11, 10),
            ("requisition_created",),
            recreation=_DemoOrder(
                "", (10, 10, 3), ("partial_results",), lies=(_ABNORMAL,)
            ),
        ),
    ),
    (
        _DemoOrder(
            "quest-essential-health",
            (22, 22, 20),
            ("requisition_created",),
            cancelled="The patient has had the same tests elsewhere",
        ),
        _DemoOrder("quest-longevity-at-home", (8, 8, 8, 7, 3), ("draw_completed",)),
    ),
    (
        _DemoOrder(
            "spiriplex-metabolic-arm-collector-kit",
            (34, 34, 33, 31, 31, 28, 25, 22),
            ("completed",),
        ),
        _DemoOrder("sanocardio-cardiac-risk-kit", (2, 2, 1), ("transit_customer",)),
    ),
    (
        _DemoOrder(
            "us-biotek-micronutrient-kit",
            (19, 19, 18, 16, 16, 12, 9, 5),
            ("delivered_to_lab", "sample_error"),
            OrderStatusDetail.SAMPLE_QUANTITY_NOT_SUFFICIENT,
        ),
    ),
    (_DemoOrder("crl-insurance-examination", (4, 4, 3), ("draw_completed",)),),
    (
        _DemoOrder(
            "bioreference-baseline",
            (36, 36, 33, 32, 28),
            ("completed", "corrected"),
            lies=(_ABNORMAL, _NORMAL),
        ),
        _DemoOrder("quest-lipid-panel", (3, 3), ("requisition_created",)),
    ),
    (
        _DemoOrder(
            "labcorp-diabetes-monitoring",
            (15, 15, 12, 11),
            ("partial_results", "completed"),
            lies=(_NORMAL, _ABNORMAL),
            is_import=True,
        ),
    ),
    (_DemoOrder("sonora-quest-metabolic-health", (0,)),),
    (
        _DemoOrder(
            "quest-essential-health", (48, 48, 46, 45), ("completed",), priority=True
        ),
    ),
    (_DemoOrder("quest-essential-health-at-home", (7, 7), ("requisition_created",)),),
)


def load_demo_orders(scene: DemoScene) -> None:
    """Create demo orders of the last weeks by every collection method.

    Who has an order already gets none. An order that the team's own accounts or panels
    refuse is left out. Steps are dated back once they are taken; audit and webhooks
    keep the moment of loading. Source: Ours (a newcomer sees every screen with
    something on it).
    """
    tenant = scene.tenant
    user_ids = [person.user_uuid for person in scene.people]
    had = set(
        Order.objects.for_tenant(tenant)
        .filter(user__uuid__in=user_ids)
        .values_list("user__uuid", flat=True)
    )
    panels = {
        panel.reference_slug: panel
        for panel in LabTest.objects.for_tenant(tenant).exclude(reference_slug="")
    }
    for number, person in enumerate(scene.people[: len(_COURSES)]):
        if person.user_uuid in had:
            continue
        with transaction.atomic():  # a person has all of the orders or none
            for course in _COURSES[number]:
                _create_demo_order(scene, person, number, course, panels)


def _create_demo_order(
    scene: DemoScene,
    person: DemoPerson,
    number: int,
    course: _DemoOrder,
    panels: dict[str, LabTest],
) -> None:
    panel = panels.get(course.panel)
    if panel is None:
        return
    try:
        with transaction.atomic():
            order = _place_demo_order(scene, person, _PATIENTS[number], course, panel)
            _advance_demo_order(scene, order, course, number, taken=0)
    except DomainError:
        # The panel is archived, or the lab has several accounts of the team's own.
        return


def _place_demo_order(
    scene: DemoScene,
    person: DemoPerson,
    patient: tuple[str, ...],
    course: _DemoOrder,
    panel: LabTest,
) -> Order:
    tenant, actor = scene.tenant, scene.actor
    details, address = _patient_details(person, patient)
    if course.is_registrable:
        kit = KitRequest(
            user_id=person.user_uuid, lab_test_id=panel.pk, shipping_address=address
        )
        return order_kit(tenant=tenant, actor=actor, request=kit)
    starts = None
    if course.starts_in is not None:
        starts = timezone.now().date() + timedelta(days=course.starts_in)
    request = OrderRequest(
        user_id=person.user_uuid,
        order_set=OrderSet(lab_test_ids=(panel.pk,)),
        patient_details=details,
        patient_address=address,
        physician=_PHYSICIAN,
        priority=course.priority,
        comments=course.comments,
        activate_by=starts,
    )
    if course.is_import:
        return import_order(
            tenant=tenant,
            actor=actor,
            request=request,
            sample_id=f"LC{person.user_uuid.hex[:9].upper()}",
        )
    return place_order(tenant=tenant, actor=actor, request=request)


def _patient_details(
    person: DemoPerson, patient: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return patient details and address; the phone number is unassigned."""
    first, last, gender, born, street, city, state, code = patient
    details = {
        "first_name": first,
        "last_name": last,
        "dob": str(person.birth_date or date.fromisoformat(born)),
        "gender": gender,
        "phone_number": "+15550142",
        "email": f"{first}.{last}@assay.example".lower(),
    }
    address = {
        "receiver_name": f"{first} {last}",
        "first_line": street,
        "city": city,
        "state": state,
        "zip": code,
        "country": "US",
        "phone_number": details["phone_number"],
    }
    return details, address


def _advance_demo_order(
    scene: DemoScene, order: Order, course: _DemoOrder, number: int, *, taken: int
) -> None:
    """Advance a demo order, and the order that replaces it."""
    tenant, actor = scene.tenant, scene.actor
    for step, low in enumerate(course.goals):
        if course.detail and low == course.goals[-1]:
            order = lock_order(order)
            advance_order(order=order, actor=actor, to=low, detail=course.detail)
        else:
            goal = build_order_status(order.method, low)
            order = advance_order_to_goal(
                tenant=tenant,
                actor=actor,
                order_id=order.pk,
                goal=goal,
                flags=_simulation_flags(course, number, step),
            )
    after = None
    if course.cancelled:
        cancel_order(order=order, actor=actor, why=course.cancelled)
    elif course.redraw:
        after = place_redraw_order(order=order, actor=actor)
    elif course.recreation:
        request = RecreationRequest(reason=UpdateReason.INCORRECT_PATIENT_DETAILS)
        after = recreate_order(order=order, actor=actor, recreation=request)
    _backdate_order(tenant, order, course.days, number, taken=taken)
    follower = course.redraw or course.recreation
    if after is not None and follower is not None:
        _advance_demo_order(scene, after, follower, number, taken=len(course.days) - 1)


def _simulation_flags(course: _DemoOrder, number: int, step: int) -> SimulationFlags:
    """Return the flags of simulated results: the same at each load."""
    return SimulationFlags(
        interpretation=course.lies[step] if step < len(course.lies) else _NORMAL,
        has_missing_results=course.has_missing_results,
        seed=f"{number} {course.panel}",
    )


def _backdate_order(
    tenant: Tenant, order: Order, days: tuple[int, ...], number: int, *, taken: int
) -> None:
    """Backdate an order's steps; operations only store the present.

    `taken` is how many steps its transaction had before it.
    """
    events = list(
        OrderEvent.objects.for_tenant(tenant).filter(order=order).order_by("pk")
    )
    now = timezone.now()
    for index, (event, ago) in enumerate(zip(events, days, strict=True)):
        lately = now - timedelta(minutes=9 * (len(days) - index))
        at = _pick_working_hour(now, ago, number, taken + index) if ago else lately
        event.created_at = min(at, lately)
    OrderEvent.objects.for_tenant(tenant).bulk_update(events, ["created_at"])
    backdate_demo_results(order=order, events=events)
    placed, last = events[0].created_at, events[-1].created_at
    due = {}
    if at_lab := next(
        (one for one in events if is_sample_drawn_or_at_lab(one.status)), None
    ):
        order.due_by = None
        due = compute_result_due_dates(
            order=order, status=at_lab.status, today=at_lab.created_at.date()
        )
    lows = {split_order_status(event.status).low: event.created_at for event in events}
    Order.objects.for_tenant(tenant).filter(pk=order.pk).update(
        created_at=placed,
        updated_at=last,
        requisition_issued_at=lows.get("requisition_created"),
        **due,
    )
    if not taken:
        OrderTransaction.objects.for_tenant(tenant).filter(
            pk=order.transaction_id
        ).update(created_at=placed)


def _pick_working_hour(now: datetime, ago: int, number: int, step: int) -> datetime:
    """Return a time of day in the United States, later for each step of the day."""
    midnight = datetime.combine(now.date() - timedelta(days=ago), time(), now.tzinfo)
    minutes = 47 * step + (7 * number + 11 * step * step) % 40
    return midnight + timedelta(hours=14, minutes=minutes)
