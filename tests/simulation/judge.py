"""Says from outside what is wrong after a run: what was acknowledged is there once."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import time_machine

from accounts.models import AuditEntry
from accounts.operations.audit.chain import check_audit_chain, seal_new_audit_entries
from accounts.operations.audit.tampering import find_broken_audit_chains
from accounts.webhooks.models import Delivery
from labs.models import Appointment, ResultVersion, SandboxVisit, SlotPlace
from portal.lib.tenancy import across_tenants
from reports.models import ParsingJob, ParsingJobTransition, Signature
from tests.outbox import emitted
from tests.simulation.receivers import list_unsettled
from tests.simulation.world import NOW
from tests.state_machines.contract import read_appointment_moves
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.analysis.buckets import Period
from users.models import User
from users.operations.erasure import count_user_rows
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulation.world import Side, World

LATER = NOW + timedelta(days=200)
VISIT_MOVES = read_appointment_moves()
ACTIVE = ("pending", "reserved", "confirmed", "in_progress")
STATUS = {"scheduled": "confirmed"}  # contract 6.18: events have a word of their own
OPEN = "pending_review"
REPORTED = ("completed", "failed", OPEN)  # contract 7.5


def list_faults(world: World) -> list[str]:
    """Return all faults, in words; none is what is expected."""
    with time_machine.travel(LATER, tick=False):
        found = []
        for side in world.sides:
            for check in CHECKS:
                found += [f"{check.__name__[1:]} {side.name}: {x}" for x in check(side)]
            found += [f"audit {side.name}: {each}" for each in _entries(side)]
        found += [f"foreign: {each}" for each in _foreign(world)]
        found += [f"places: {each}" for each in _places()]
        found += [f"deliveries: {each}" for each in _deliveries(world)]
        found += [f"audit: {each}" for each in _chain(world)]
        return found


def _get(side: Side, path: str, **query: Any) -> Any:
    """What the team is shown, asked for once: nothing changes while it is judged."""
    key = f"{path} {query}"
    if key not in side.shown:
        reply = side.api.get(path, query)
        assert reply.status_code == 200, (path, reply.content)
        side.shown[key] = reply.json()
    return side.shown[key]


def _live(side: Side) -> dict[str, str]:
    gone = side.books.deleted
    return {n: each for n, each in side.books.users.items() if each not in gone}


def _users(side: Side) -> Iterator[str]:
    shown = _get(side, "/v2/user", limit=500)["users"]
    found = sorted((each["client_user_id"], each["user_id"]) for each in shown)
    if found != sorted(_live(side).items()):
        yield f"{found}, acknowledged {sorted(_live(side).items())}"


def _samples(side: Side) -> Iterator[str]:
    for user in _live(side).values():
        wanted = sorted(
            (datetime.fromisoformat(at), value)
            for at, value in side.books.samples.get(user, {}).items()
        )
        found = sorted(_read_samples(side, user))
        if found != wanted:
            lost = Counter(wanted) - Counter(found)
            more = Counter(found) - Counter(wanted)
            yield f"{user} lost {sorted(lost)[:3]}, has besides {sorted(more)[:3]}"


def _read_samples(side: Side, user: str) -> list[tuple[datetime, float]]:
    path, query = f"/v2/timeseries/{user}/heartrate/grouped", {"limit": 1000}
    query |= {"start_date": "2026-01-01", "end_date": "2026-12-31"}
    found = []
    while True:
        shown = _get(side, path, **query)
        for groups in shown["groups"].values():
            for group in groups:
                found += [
                    (
                        datetime.fromisoformat(each["timestamp"]).astimezone(UTC),
                        each["value"],
                    )
                    for each in group["data"]
                ]
        if not shown.get("next_cursor"):
            return found
        query["next_cursor"] = shown["next_cursor"]


def _sums(side: Side) -> Iterator[str]:
    """Aggregates by day, of packed days and rows, against the samples sent."""
    for user in _live(side).values():
        sent = side.books.samples.get(user)
        if not sent:
            continue
        row = User.objects.for_tenant(side.tenant).get(uuid=user)
        row.tenant = side.tenant
        days = Counter[str]()
        for at, value in sent.items():
            days[at[:10]] += int(value)
        request = AggregateRequest(
            resource=TIMESERIES["heartrate"],
            start=datetime.fromisoformat(min(days)).date(),
            end=datetime.fromisoformat(max(days)).date(),
            period=Period.DAY,
            zone=UTC,
        )
        found = Counter[str]()
        for bucket in aggregate_samples(user=row, request=request):
            if bucket.count and bucket.mean is not None:
                found[bucket.start.isoformat()[:10]] += round(
                    bucket.mean * bucket.count
                )
        if found != days:
            yield f"{user} {dict(found)}, sent {dict(days)}"


def _orders(side: Side) -> Iterator[str]:
    shown = _get(side, "/v3/orders", size=100)["orders"]
    found = sorted(each["id"] for each in shown)
    live = set(_live(side).values())
    wanted = sorted(
        o for o in side.books.orders.values() if side.books.owners[o] in live
    )
    if found != wanted:
        yield f"{len(found)} are there, {len(wanted)} acknowledged"
    for each in shown:
        if each["id"] in side.books.cancelled and each["status"] != "cancelled":
            yield f"{each['id']} is {each['status']}, acknowledged as cancelled"


def _results(side: Side) -> Iterator[str]:
    """The lab's last value is shown; each change made one version, none a second."""
    live = set(_live(side).values())
    for order, values in side.books.results.items():
        if side.books.owners[order] not in live or not values:
            continue
        shown = _get(side, f"/v3/order/{order}/result")["results"]
        if [each["result"] for each in shown] != values[-1:]:
            yield f"{order} shows {shown}, reported {values}"
        made = ResultVersion.objects.for_tenant(side.tenant).filter(order=order)
        if made.count() != len(values):
            yield f"{order} has {made.count()} versions of {len(values)} reports"


def _shipments(side: Side) -> Iterator[str]:
    live = set(_live(side).values())
    for order, step in sorted(side.books.shipped):
        if side.books.owners[order] in live:
            states = [e["status"] for e in _get(side, f"/v3/order/{order}")["events"]]
            if not any(state.endswith(f".{step}") for state in states):
                yield f"{order} is not {step}, as was acknowledged: {states}"


def _events(side: Side) -> Iterator[str]:
    """Each order's events are its states, in order; each user has its own once."""
    sent: dict[str, list[str]] = {}
    for envelope in emitted(side.tenant):
        if envelope["event_type"].startswith("labtest.order."):
            data = envelope["data"]
            sent.setdefault(data["id"], []).append(data["last_event"]["status"])
    live = set(_live(side).values())
    for order in side.books.orders.values():
        if side.books.owners[order] not in live:
            continue
        states = [e["status"] for e in _get(side, f"/v3/order/{order}")["events"]]
        # Results that take no step are sent with the status that the order has.
        steps = [one for one, _ in itertools.groupby(sent.get(order, []))]
        if steps != [one for one, _ in itertools.groupby(states)]:
            yield f"{order} was sent as {steps}, is {states}"


def _visits(side: Side) -> Iterator[str]:
    """Each booked visit is there and moves as it may; its events are its states."""
    sent: dict[str, list[str]] = {}
    for envelope in emitted(side.tenant):
        if envelope["event_type"].startswith("labtest.appointment."):
            sent.setdefault(envelope["data"]["id"], []).append(
                envelope["data"]["status"]
            )
    rows = Appointment.objects.for_tenant(side.tenant).prefetch_related("events")
    found = {str(row.pk): row for row in rows.order_by("created_at")}
    live = set(_live(side).values())
    for visit, order in side.books.visits.items():
        if side.books.owners[order] in live and visit not in found:
            yield f"{visit} of {order} is not there, as was acknowledged"
    for visit, row in found.items():
        kept = [STATUS.get(x.status, x.status) for x in row.events.order_by("pk")]
        if sent.get(visit) != kept:
            yield f"{visit} was sent as {sent.get(visit)}, is {kept}"
        if kept[-1] != row.status or any(
            new not in VISIT_MOVES[old] for old, new in itertools.pairwise(kept)
        ):
            yield f"{visit} is {row.status} after {kept}"
        if visit in side.books.cancelled_visits and row.status != "cancelled":
            yield f"{visit} is {row.status}, acknowledged as cancelled"
        start = side.books.moved.get(visit)
        if start and datetime.fromisoformat(start) != row.start_at:
            yield f"{visit} is at {row.start_at}, acknowledged for {start}"
    active = Counter(row.order_id for row in found.values() if row.status in ACTIVE)
    yield from (f"{order} has {n} visits" for order, n in active.items() if n > 1)


def _reports(side: Side) -> Iterator[str]:
    """Each upload was read once, from its own file; signed and rejected as answered."""
    books, live = side.books, set(_live(side).values())
    sent: dict[str, list[str]] = {}
    for envelope in emitted(side.tenant):
        if envelope["event_type"].startswith("lab_report."):
            data = envelope["data"]
            sent.setdefault(data["id"], []).append(data["status"])
    rows = ParsingJob.objects.for_tenant(side.tenant).filter(user__uuid__in=live)
    jobs = {str(each): each for each in rows.values_list("pk", flat=True)}
    values = Counter[str]()
    for job in jobs:
        shown = _get(side, f"/lab_report/v1/parser/job/{job}")
        read = shown["data"] and [x["value"] for x in shown["data"]["results"]]
        wanted = books.reports.get(job)
        values.update(read or ())
        if read is not None and (len(read) != 1 or wanted not in (None, *read)):
            yield f"{job} was read as {read}, is {wanted}"
        ended = "failed" if job in books.rejected else "completed"
        done = job in books.rejected or job in books.signed
        if shown["status"] not in (
            {ended} if done else {"completed", "pending_review"}
        ):
            yield f"{job} is {shown['status']}, acknowledged as {done and ended}"
        signed = Signature.objects.for_tenant(side.tenant).filter(review__job=job)
        if signed.count() != (job in books.signed):
            yield f"{job} has {signed.count()} signatures"
        moves = ParsingJobTransition.objects.for_tenant(side.tenant).filter(job=job)
        steps = list(moves.order_by("pk").values_list("new", flat=True))
        told = ["upload_pending", *(each for each in steps if each in REPORTED)]
        if sent.get(job) != told:
            yield f"{job} was sent as {sent.get(job)}, is {steps}"
    for job in books.reports:
        if books.owners[job] in live and job not in jobs:
            yield f"{job} is not there, as was acknowledged"
    if more := values - books.sent:
        yield f"read more often than sent: {more}"


def _erased(side: Side) -> Iterator[str]:
    """Nothing is left of who was deleted more than a week ago."""
    for user, row in side.books.deleted.items():
        if side.api.get(f"/v2/user/{user}").status_code != 404:
            yield f"{user} is shown"
        row.tenant = side.tenant
        if left := count_user_rows(user=row):
            yield f"{user} has {left}"


def _entries(side: Side) -> Iterator[str]:
    """Each user was created once, each deleted one deleted once, by the audit."""
    mine = AuditEntry.objects.for_tenant(side.tenant)
    for verb, wanted in (
        ("create_user", side.books.users.values()),
        ("delete_user", side.books.deletions.elements()),
        ("undo_delete_user", side.books.undone.elements()),
    ):
        rows = mine.filter(verb=verb, subject="user")
        found = Counter(rows.values_list("subject_id", flat=True))
        known = Counter(wanted)
        if found != known:
            yield f"{verb} {found - known}, missing {known - found}"


def _chain(world: World) -> Iterator[str]:
    with across_tenants(why="the chains of all are checked"):
        seal_new_audit_entries()
        yield from map(str, find_broken_audit_chains(anchors={}))
        for side in world.sides:
            if broken := check_audit_chain(tenant=side.tenant, anchors=[]).broken:
                yield f"{side.name} {broken}"


def _foreign(world: World) -> Iterator[str]:
    for side, other in itertools.permutations(world.sides, 2):
        paths = [f"/v2/user/{each}" for each in side.books.users.values()]
        paths += [f"/v3/order/{each}" for each in side.books.orders.values()]
        paths += [f"/lab_report/v1/parser/job/{each}" for each in side.books.reports]
        for path in paths:
            if other.api.get(path).status_code != 404:
                yield f"{other.name} reads {path}"


def _places() -> Iterator[str]:
    """A place is held by one visit that takes place, here and at the provider."""
    held = Counter(
        SlotPlace.objects.exclude(appointment=None).values_list(
            "appointment", flat=True
        )
    )
    rows = Appointment.unscoped.filter(status__in=(*ACTIVE, "completed"))
    kept = Counter(rows.values_list("pk", flat=True))
    if held != kept:
        yield f"held by none {held - kept}, without one {kept - held}"
    if claims := SlotPlace.objects.filter(appointment=None).count():
        yield f"{claims} are claimed for ever"
    booked = SandboxVisit.objects.filter(cancelled_at=None, is_refused=False)
    wanted = set(rows.values_list("reference", flat=True))
    if left := {each.reference for each in booked} - wanted:
        yield f"{len(left)} are booked at the provider for nobody"


def _deliveries(world: World) -> Iterator[str]:
    """Each event was taken by its receiver, and the log says so."""
    yield from map(str, list_unsettled())
    for pk in Delivery.unscoped.values_list("pk", flat=True):
        if not world.receiver.accepted[pk]:
            yield f"{pk} is marked as delivered, and nobody got it"


CHECKS = (
    *(_users, _samples, _sums, _orders, _results, _shipments, _events, _visits),
    *(_reports, _erased),
)
