"""Store the reports of a transaction Bundle: all of them, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.declarations.hooks import list_app_hooks
from accounts.operations.audit.entries import record_change
from accounts.states import Area
from exchange.operations.incoming.bundles import (
    BundleInvalid,
    SentBundle,
    SentReport,
    place_of,
    read_transaction,
)
from exchange.operations.incoming.deliveries import (
    build_delivery_from_fhir,
    list_reported_rows,
)
from exchange.resources.base import parse_uuid
from exchange.resources.datatypes import build_own_url
from exchange.resources.diagnostic_report import build_order_reports
from exchange.resources.order_results import build_result_id
from exchange.resources.outside_results import OUTSIDE_REPORTS
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from labs.queries.population import current_result_versions
from portal.lib.errors import DomainError, NotAllowed, NotFound
from reports.queries.population import current_outside_reports
from users.queries import (
    find_user,
    find_user_by_client_user_id,
    live_user,
    lock_user,
)
from users.wearables.formats.fhir.lab_reports import read_lab_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant
    from exchange.resources.base import Json
    from labs.models import Order
    from portal.lib.actor import Actor

FHIR_VERSION = "R4"
# The source that outside reports of an API have: no wearable, and no file.
PROVIDER = "manual"


@dataclass(slots=True)
class StoredBundle:
    """What became of each entry, by index: the resource as it is read now.

    `unchanged` are the indexes of reports that were here already, as they are.
    """

    types: list[str]
    resources: dict[int, Json] = field(default_factory=dict)
    unchanged: set[int] = field(default_factory=set)


def store_transaction(
    *, tenant: Tenant, actor: Actor, writes: frozenset[Area], bundle: Json
) -> StoredBundle:
    """Store the DiagnosticReports of a transaction with their Observations.

    One with `basedOn` becomes results of that order, as a lab's message does: versions,
    status, events and critical alerts (labs.operations.results.deliveries). Another is
    a report that an institution made of its patient, which nobody here reviewed
    (reports.operations.outside_reports). The same Bundle again changes nothing.

    Raises BundleInvalid with the place of the fault: see read_transaction; also
    patient_unknown, order_unknown, patient_differs, and what store_result_delivery
    refuses; scope_missing (403). Nothing is stored then. Source: FHIR R4, 3.1.0.11.2.
    """
    sent = read_transaction(bundle)
    stored = StoredBundle(sent.types)
    with transaction.atomic():
        people = _find_people(tenant, sent)
        # In one order, so that two Bundles of the same people wait for each other.
        for uuid in sorted(set(people.values())):
            lock_user(live_user(tenant=tenant, user_id=uuid))
        for index in sent.patients:
            uuid = people[f"entry:{index}"]
            stored.resources[index] = {"resourceType": "Patient", "id": str(uuid)}
        for report in sent.reports:
            user_uuid = people[report.patient]
            area = Area.ORDERS if report.order else Area.REPORTS
            if area not in writes:
                raise NotAllowed(
                    "scope_missing", f"This key lacks the scope {area}:write."
                )
            store = _store_order_results if report.order else _store_outside_report
            store(tenant, actor, user_uuid, report, stored)
    return stored


def _store_order_results(
    tenant: Tenant,
    actor: Actor,
    user_uuid: UUID,
    report: SentReport,
    stored: StoredBundle,
) -> None:
    place = place_of(report.index, "resource.basedOn")
    order = _find_order(tenant, report.order)
    if order is None:
        raise BundleInvalid("order_unknown", "Order not found.", place)
    if order.user.uuid != user_uuid:
        raise BundleInvalid(
            "patient_differs", "The order is of another patient.", place
        )
    rows = current_result_versions(tenant).filter(order=order)
    before = rows.values_list("number", flat=True).first()
    delivery = build_delivery_from_fhir(report, received_at=timezone.now())
    try:
        version = store_result_delivery(order=order, actor=actor, delivery=delivery)
    except DomainError as refusal:
        raise BundleInvalid(refusal.code, refusal.message, place) from None
    if version.number == before:
        stored.unchanged.add(report.index)
    [[resource]] = build_order_reports(tenant, [rows.get()])
    stored.resources[report.index] = resource
    for index, listed in list_reported_rows(report).items():
        stored.resources[index] = {
            "resourceType": "Observation",
            "id": build_result_id(order, listed[0]),
            "meta": resource["meta"],
        }
        if report.index in stored.unchanged:
            stored.unchanged.add(index)


def _find_order(tenant: Tenant, text: str) -> Order | None:
    order_id = parse_uuid(text)
    if order_id is None:
        return None
    try:
        return get_order_with_details(tenant=tenant, order_id=order_id)
    except NotFound:
        return None


def _store_outside_report(
    tenant: Tenant,
    actor: Actor,
    user_uuid: UUID,
    report: SentReport,
    stored: StoredBundle,
) -> None:
    results = {f"Observation/{one['id']}": one for one in report.results.values()}
    read = {
        **read_lab_report(report.resource, results.get),
        "source": report.laboratory,
        "fhir_version": FHIR_VERSION,
        "received": timezone.now().isoformat(),
    }
    read["laboratory"] = read["laboratory"] or report.laboratory
    changed = 0
    for app in list_app_hooks():
        for keep in app.lab_report_keepers:
            kept = keep(tenant, user_uuid, PROVIDER, [read])
            changed += kept.created + kept.updated
    rows = current_outside_reports(tenant).filter(
        user__uuid=user_uuid,
        provider=PROVIDER,
        institution=report.laboratory,
        record_id=read["record_id"],
    )
    row = rows.get()
    if not changed:
        stored.unchanged.add(report.index)
    else:
        record_change(
            tenant=tenant,
            actor=actor,
            verb="store_outside_report",
            subject="outside_report",
            subject_id=row.pk,
            user_uuid=user_uuid,
        )
    [[resource]] = OUTSIDE_REPORTS.build(tenant, [row])
    stored.resources[report.index] = resource
    # One that was entered in error has none any more.
    listed = resource.get("result", [])
    for index, reference in zip(report.results, listed, strict=False):
        type_, _, id_ = reference["reference"].partition("/")
        stored.resources[index] = {
            "resourceType": type_,
            "id": id_,
            "meta": resource["meta"],
        }
        if not changed:
            stored.unchanged.add(index)


def _find_people(tenant: Tenant, sent: SentBundle) -> Mapping[str, UUID]:
    """Return the users that a Bundle names, by how it names them."""
    found: dict[str, UUID] = {}
    for index, search in sent.patients.items():
        place = place_of(index, "request.ifNoneExist")
        found[f"entry:{index}"] = _find_person(tenant, search, place)
    for report in sent.reports:
        if report.patient not in found:
            place = place_of(report.index, "resource.subject")
            found[report.patient] = _find_person(tenant, report.patient, place)
    return found


def _find_person(tenant: Tenant, name: str, place: str) -> UUID:
    system, _, value = name.removeprefix("identifier=").partition("|")
    if name.startswith("identifier="):
        is_ours = system == build_own_url("client-user-id")
        person = (
            find_user_by_client_user_id(tenant=tenant, client_user_id=value)
            if is_ours
            else None
        )
    else:
        uuid = parse_uuid(name)
        person = find_user(tenant=tenant, user_id=uuid) if uuid else None
    if person is None:
        raise BundleInvalid("patient_unknown", "Patient not found.", place)
    return person.user.uuid
