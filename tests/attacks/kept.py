"""What was acknowledged to clients, against the database and what receivers got.

Nothing may be missing, and nothing be there twice or without a client who sent it. Must
not be here: who sends (careful_clients), or what is killed meanwhile (kills).
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from io import StringIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import AuditEntry
from accounts.operations.audit.chain import seal_new_audit_entries
from accounts.webhooks.models import Attempt, Delivery, Event
from labs.models import Order, OrderEvent, ResultVersion
from reports.models import ParsingJob, ReportResult
from tests.accounts.webhooks.delivery.storms import Receipt
from tests.attacks.careful_clients import STEP
from tests.factories.reports import ROWS
from tests.jobs import queued
from users.models import User
from users.models.user import UserCount

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from accounts.models import Tenant
    from tests.accounts.webhooks.delivery.storms import StormReceiver
    from tests.attacks.careful_clients import Batch, CarefulClient

WALK = ["ordered", "requisition_created", "partial_results", "completed"]
# Of partial results a team hears only where it asked to.
SENT_STEPS = {"requisition_created", "completed"}
EXAMPLES = 3  # of each kind of fault
READ = ["submit_report", "start_parsing", "finish_parsing"]


class Team(NamedTuple):
    """A team: its clients use both environments, one receiver gets the events."""

    production: Tenant
    sandbox: Tenant
    receiver: StormReceiver
    clients: list[CarefulClient]


class Line(NamedTuple):
    """A row of the table; `doubled` also counts what nobody sent."""

    what: str
    acknowledged: int
    lost: int
    doubled: int
    examples: tuple[str, ...] = ()


def compare_all(teams: Iterable[Team]) -> tuple[list[Line], list[str]]:
    """Compare each kind over all teams; the lines, and further faults in words."""
    teams = list(teams)
    kinds = (users, samples, orders, order_steps, reports, events, deliveries, attempts)
    found = [[kind(team) for team in teams] for kind in kinds]
    lines = [
        Line(
            own[0].what,
            sum(line.acknowledged for line in own),
            sum(line.lost for line in own),
            sum(line.doubled for line in own),
            tuple(chain(*(line.examples for line in own))),
        )
        for own in found
    ]
    return lines, [*job_faults(), *audit_faults(teams)]


def users(team: Team) -> Line:
    """Each was created once, also by the audit."""
    known = _merged(client.users for client in team.clients)
    unknown = set(chain(*(client.unknown_users for client in team.clients)))
    rows = User.objects.for_tenant(team.production)
    stored = Counter(
        (name, str(uuid)) for name, uuid in rows.values_list("client_user_id", "uuid")
    )
    mine = AuditEntry.objects.for_tenant(team.production).filter(verb="create_user")
    entries = Counter(mine.values_list("subject_id", flat=True))
    wanted = Counter(known.items())
    wanted += Counter(each for each in stored if each[0] in unknown)
    (count,) = UserCount.objects.for_tenant(team.production).values_list(
        "live", flat=True
    )
    line = _line("users", len(known), wanted, stored)
    twice = (entries - Counter(uuid for _, uuid in wanted)).total()
    return line._replace(doubled=line.doubled + twice + abs(count - stored.total()))


def samples(team: Team) -> Line:
    """Each moment is there once, with its value; of a batch all or none."""
    known = _batches(team)
    wanted = Counter(chain(*map(_samples_of, known)))
    acknowledged = wanted.total()
    stored = _stored_samples(team)
    for batch in chain(*(client.unknown_batches for client in team.clients)):
        if _samples_of(batch)[0] in stored:
            wanted.update(_samples_of(batch))
    return _line("samples", acknowledged, wanted, stored)


def orders(team: Team) -> Line:
    """Each key made one order, and none was made for nobody."""
    answers = _merged(client.orders for client in team.clients)
    wanted = Counter(json.loads(body)["order"]["id"] for body in answers.values())
    rows = Order.objects.for_tenant(team.sandbox)
    stored = Counter(str(pk) for pk in rows.values_list("pk", flat=True))
    return _line("orders", len(answers), wanted, stored)


def order_steps(team: Team) -> Line:
    """Each simulated order took every step once, with its two results."""
    known = set(chain(*(client.simulated for client in team.clients)))
    wanted = Counter((pk, step) for pk in known for step in [*WALK, "result", "result"])
    rows = OrderEvent.objects.for_tenant(team.sandbox)
    stored = Counter(
        (str(pk), status.split(".")[2])
        for pk, status in rows.values_list("order_id", "status")
    )
    versions = ResultVersion.objects.for_tenant(team.sandbox)
    stored.update(
        (str(pk), "result") for pk in versions.values_list("order_id", flat=True)
    )
    of_known = Counter({key: n for key, n in stored.items() if key[0] in known})
    return _line("order steps", wanted.total(), wanted, of_known)


def reports(team: Team) -> Line:
    """Each upload was read once and completed, with its own value."""
    known = _merged(client.reports for client in team.clients)
    unknown = set(chain(*(client.unknown_markers for client in team.clients)))
    results = ReportResult.objects.for_tenant(team.sandbox)
    audit = AuditEntry.objects.for_tenant(team.sandbox).filter(subject="parsing_job")
    audit = audit.exclude(verb="read")  # of clients that ask whether it is read
    wanted: Counter[Hashable] = Counter()
    stored: Counter[Hashable] = Counter()
    for job, marker in known.items():
        wanted.update((job, each) for each in ("completed", marker, len(ROWS), *READ))
    for job in ParsingJob.objects.for_tenant(team.sandbox):
        rows = results.filter(job=job).order_by("position")
        values = list(rows.values_list("value", flat=True))
        verbs = audit.filter(subject_id=str(job.pk)).values_list("verb", flat=True)
        of_job = [job.status, *values[:1], len(values), *verbs]
        stored.update((str(job.pk), each) for each in of_job)
        if values and values[0] in unknown and str(job.pk) not in known:
            # Nobody was answered, but it is there: then whole, and once.
            unknown.remove(values[0])
            of_unknown = ("completed", values[0], len(ROWS), *READ)
            wanted.update((str(job.pk), each) for each in of_unknown)
    return _line("reports", len(known), wanted, stored)


def events(team: Team) -> Line:
    """Each change made one event."""
    wanted: Counter[Hashable] = Counter()
    stored = Counter(chain(*(_stored_events(each) for each in team[:2])))
    steps = OrderEvent.objects.for_tenant(team.sandbox)
    for order, status in steps.values_list("order_id", "status"):
        low = status.split(".")[2]
        if low == WALK[0]:
            wanted["labtest.order.created", str(order), status] += 1
        elif low in SENT_STEPS:
            wanted["labtest.order.updated", str(order), status] += 1
    for job in ParsingJob.objects.for_tenant(team.sandbox):
        wanted["lab_report.parsing_job.created", str(job.pk), "upload_pending"] += 1
        # Not of "started".
        wanted["lab_report.parsing_job.updated", str(job.pk), job.status] += 1
    in_store = _stored_samples(team)
    for batch in [*_batches(team), *_unknown_batches(team)]:
        if _samples_of(batch)[0] in in_store:
            first = batch.first.isoformat()
            wanted["daily.data.heartrate.created", batch.user, first] += 1
            wanted["provider.connection.created", batch.user, "oura"] = 1
    return _line("events", wanted.total(), wanted, stored)


def deliveries(team: Team) -> Line:
    """Each event was accepted by its receiver, under its signature; the log says so."""
    receiver = team.receiver
    wanted = Counter(_values(Event, team, "message_id"))
    settled = Counter(_values(Delivery, team, "event__message_id", status="delivered"))
    line = _line(
        "deliveries", wanted.total(), wanted, settled & Counter({*receiver.accepted})
    )
    never_made = {each.message_id for each in receiver.receipts} - {*wanted}
    return line._replace(
        doubled=line.doubled + len(never_made) + receiver.forged,
        examples=(*line.examples, *_examples("event of nobody", never_made)),
    )


def attempts(team: Team) -> Line:
    """The log has no POST that never came; one of a dead deliverer may be missing."""
    of_message = "delivery__event__message_id"
    messages = _values(Attempt, team, of_message)
    signatures = _values(Attempt, team, "signature")
    logged = Counter(map(Receipt, messages, signatures))
    invented = logged - team.receiver.receipts
    examples = _examples("attempt that never came", invented)
    return Line("attempts", logged.total(), 0, invented.total(), tuple(examples))


def job_faults() -> list[str]:
    """Jobs of tenants that did not succeed; the clock's come again by themselves."""
    return [
        f"job {entry.name} is {entry.status} after {entry.attempts} runs"
        for entry in queued()
        if "tenant_pk" in entry.inputs and entry.status != "succeeded"
    ]


def audit_faults(teams: Iterable[Team]) -> list[str]:
    """Breaks of the audit's chain; all that was acknowledged is in it by now."""
    seal_new_audit_entries()
    try:
        call_command("verify_audit", stdout=StringIO())
    except CommandError as broken:
        return [f"verify_audit: {broken}"]
    return []


def _line(
    what: str, acknowledged: int, wanted: Counter[Any], stored: Counter[Any]
) -> Line:
    lost, doubled = wanted - stored, stored - wanted
    return Line(
        what,
        acknowledged,
        lost.total(),
        doubled.total(),
        (*_examples(f"lost {what}", lost), *_examples(f"doubled {what}", doubled)),
    )


def _examples(what: str, faults: Iterable[object]) -> list[str]:
    return [f"{what}: {each}" for each in islice(faults, EXAMPLES)]


def _merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def _batches(team: Team) -> list[Batch]:
    return list(chain(*(client.batches for client in team.clients)))


def _unknown_batches(team: Team) -> list[Batch]:
    return list(chain(*(client.unknown_batches for client in team.clients)))


def _samples_of(batch: Batch) -> list[tuple[str, datetime, float]]:
    return [
        (batch.user, batch.first + i * STEP, value)
        for i, value in enumerate(batch.values)
    ]


def _stored_samples(team: Team) -> Counter[tuple[str, datetime, float]]:
    """Of every series and feed: a sample that is there under two is there twice."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT person.uuid::text, sample.ts, sample.value"
            " FROM users_sample AS sample JOIN users_user AS person"
            " ON person.id = sample.user_id WHERE person.tenant_id = %s",
            [team.production.pk],
        )
        return Counter(cursor.fetchall())


def _stored_events(tenant: Tenant) -> Iterable[Hashable]:
    """What each event is about: its type, the thing, and what became of it."""
    rows = Event.objects.for_tenant(tenant).values_list("event_type", "body")
    for event_type, body in rows.iterator():
        data = json.loads(body)["data"]
        match event_type.split(".")[:2]:
            case ["labtest", _]:
                yield event_type, data["id"], data["last_event"]["status"]
            case ["lab_report", _]:
                yield event_type, data["id"], data["status"]
            case ["daily", _]:
                yield event_type, data["user_id"], data["data"][0]["timestamp"]
            case ["provider", _]:
                yield event_type, data["user_id"], data["provider"]["slug"]
            case _:
                yield event_type, "", ""


def _values(model: Any, team: Team, name: str, **wanted: str) -> list[str]:
    return [
        value
        for tenant in team[:2]
        for value in model.objects.for_tenant(tenant)
        .filter(**wanted)
        .order_by("pk")
        .values_list(name, flat=True)
    ]
