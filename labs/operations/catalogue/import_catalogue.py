"""Check and apply updates of labs, markers, results and service centers.

Those of production that all share, or a tenant's own.
"""

from __future__ import annotations

import base64
import json
import zlib
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.states import Environment
from labs.models import (
    CatalogueUpdate,
    ExpectedResult,
    Lab,
    LabTest,
    LabTestVersion,
    Marker,
    MarkerVersion,
)
from labs.models.catalogue_version import build_marker_version
from labs.operations.catalogue.catalogue_changes import (
    Change,
    compare_with_stored_catalogue,
)
from labs.operations.catalogue.catalogue_export import build_catalogue_entries
from labs.operations.catalogue.catalogue_files import parse_lab_catalogue
from labs.operations.catalogue.catalogue_messages import (
    FILE,
    read_catalogue_messages,
)
from labs.operations.catalogue.catalogue_rows import (
    MESSAGES,
    Fault,
    read_catalogue_rows,
    require_file_size,
)
from labs.operations.catalogue.locks import lock_catalogue_for_update
from labs.operations.catalogue.reference_data import upsert_rows_by_id
from labs.operations.catalogue.service_centers import upsert_service_centers
from labs.states.catalogue import ChangeKind
from portal.lib.database.rows import fetch_rows
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.operations.catalogue.catalogue_changes import (
        CatalogueDifference,
        PanelChange,
    )
    from labs.operations.catalogue.catalogue_rows import CatalogueRows
    from portal.lib.actor import Actor

# More take longer to compare than a page may take.
OWN_MARKERS_MAX = 10_000
_FAULTS_SHOWN = 20
_DRAFT_LIFE = timedelta(days=1)
_DRAFTS_MAX = 20
# Above all ids that ship; see migration lab_environment.
_IDS = "SELECT nextval('labs_production_id') FROM generate_series(1, %(number)s)"


class CatalogueInvalid(DomainError):
    """An update that can't be applied; `faults` are what is wrong, and where."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        shown = [str(fault) for fault in islice(faults, _FAULTS_SHOWN)]
        if len(faults) > len(shown):
            more = {"number": len(faults) - len(shown)}
            shown.append(_("And %(number)d more.") % more)
        super().__init__("lab_catalogue_invalid", " ".join(shown))
        self.faults = tuple(faults)


@transaction.atomic
def check_catalogue_update(
    *,
    contents: Mapping[str, bytes],
    actor: Actor,
    is_complete: bool = False,
    owner: Tenant | None = None,
) -> CatalogueUpdate:
    """Check files by name and keep them with the differences that they would make.

    `owner` is the tenant whose own labs they are. Nothing of the catalogue changes.
    Call it across tenants for the shared catalogue: open orders and panels of all teams
    count. Raises: lab_catalogue_invalid (each row's fault with its place).
    Source: Contract D23; Ours: the format of the files that ship.
    """
    lock_catalogue_for_update(owner)
    found = _compare(contents, owner=owner, is_complete=is_complete, at=timezone.now())
    _delete_old_drafts(owner)
    update = CatalogueUpdate(
        owner=owner,
        content=_pack(contents),
        is_complete=is_complete,
        base=get_catalogue_number(owner),
        changes=[_pack_change(change) for change in found.changes],
        created_by=actor.label,
    )
    update.save(force_insert=True)
    return update


@transaction.atomic
def apply_catalogue_update(
    *, update_id: UUID, actor: Actor, owner: Tenant | None = None
) -> CatalogueUpdate:
    """Apply a checked update; orders keep what they were placed with.

    Call it across tenants for the shared catalogue. Raises: catalogue_update_not_found
    (404, that of another's catalogue too); catalogue_update_applied;
    catalogue_update_outdated, if another was applied since it was checked;
    lab_catalogue_invalid, if orders or panels forbid it by now.
    """
    lock_catalogue_for_update(owner)
    rows = CatalogueUpdate.objects.select_for_update()
    update = rows.filter(pk=update_id, owner=owner).first()
    if update is None:
        raise NotFound("catalogue_update_not_found", _("Catalog update not found."))
    if update.number is not None:
        raise DomainError(
            "catalogue_update_applied", _("This update is applied already.")
        )
    if update.base != get_catalogue_number(owner):
        raise DomainError(
            "catalogue_update_outdated",
            _("The catalog was updated since this was checked. Check the files again."),
        )
    # Under the lock, and so after every order that was placed with the old catalogue.
    at = timezone.now()
    found = _compare(
        read_update_files(update),
        owner=owner,
        is_complete=update.is_complete,
        at=at,
    )
    _store(found, at=at, actor=actor)
    update.number = update.base + 1
    update.changes = [_pack_change(change) for change in found.changes]
    update.applied_at, update.applied_by = at, actor.label
    update.save()
    if owner is not None:
        record_change(
            tenant=owner,
            actor=actor,
            verb="update_own_catalogue",
            subject="catalogue_update",
            subject_id=update.pk,
            changes={"number": [update.base, update.number]},
        )
    return update


def discard_catalogue_update(*, update_id: UUID, owner: Tenant | None) -> None:
    """Delete a checked update that was not applied; none is not refused."""
    CatalogueUpdate.objects.filter(pk=update_id, owner=owner, number=None).delete()


def list_catalogue_changes(update: CatalogueUpdate) -> list[Change]:
    """Return the differences of an update, in the order of its files."""
    return [
        Change(
            ChangeKind(each["kind"]),
            each["table"],
            each["key"],
            each["name"],
            tuple((column, old, new) for column, old, new in each["fields"]),
        )
        for each in update.changes
    ]


def get_catalogue_number(owner: Tenant | None) -> int:
    """Return the number of the update that was applied last, 0 for none."""
    updates = CatalogueUpdate.objects.filter(owner=owner)
    return int(updates.aggregate(number=Max("number"))["number"] or 0)


def read_update_files(update: CatalogueUpdate) -> dict[str, bytes]:
    """Return the files that an update was checked from, by name."""
    texts = json.loads(zlib.decompress(bytes(update.content)))
    return {name: base64.b64decode(text) for name, text in texts.items()}


def _compare(
    contents: Mapping[str, bytes],
    *,
    owner: Tenant | None,
    is_complete: bool,
    at: datetime,
) -> CatalogueDifference:
    """Raises: lab_catalogue_invalid."""
    stored = Lab.objects.in_catalogue_of(owner)
    parsed = parse_lab_catalogue(
        _read_rows(contents, stored),
        labs={lab.slug: lab for lab in stored},
        taken=_list_slugs_of_others(owner),
    )
    if parsed.faults:
        raise CatalogueInvalid(parsed.faults)
    if owner is not None and len(parsed.markers) > OWN_MARKERS_MAX:
        most = {"most": OWN_MARKERS_MAX}
        raise DomainError(
            "lab_catalogue_invalid",
            _("The files have more than %(most)d tests. Split them.") % most,
        )
    if not (parsed.labs or parsed.markers or parsed.centers):
        raise DomainError(
            "lab_catalogue_invalid",
            _("The files have no labs, no markers and no service centers."),
        )
    found = compare_with_stored_catalogue(
        parsed, owner=owner, is_complete=is_complete, at=at
    )
    if found.faults:
        raise CatalogueInvalid(found.faults)
    return found


def _read_rows(contents: Mapping[str, bytes], labs: QuerySet[Lab]) -> CatalogueRows:
    """Read CSV files, or the messages of a lab over what is stored of it."""
    messages = contents.get(MESSAGES)
    if messages is None:
        return read_catalogue_rows(contents)
    if len(contents) > 1:
        text = _("send HL7 messages and CSV files apart")
        raise CatalogueInvalid([Fault(FILE, text)])
    require_file_size(FILE, len(messages))
    return read_catalogue_messages(messages, stored=build_catalogue_entries(labs=labs))


def _list_slugs_of_others(owner: Tenant | None) -> frozenset[str]:
    """Return the slugs that would name two labs of one tenant."""
    if owner is not None:
        others = Lab.objects.filter(owner=None, environment=owner.environment)
    else:
        others = Lab.objects.filter(
            owner__isnull=False, environment=Environment.PRODUCTION
        )
    return frozenset(others.values_list("slug", flat=True))


def _delete_old_drafts(owner: Tenant | None) -> None:
    drafts = CatalogueUpdate.objects.filter(number=None, owner=owner)
    drafts.filter(created_at__lt=timezone.now() - _DRAFT_LIFE).delete()
    newest = drafts.order_by("-created_at").values_list("pk", flat=True)
    drafts.exclude(pk__in=list(newest[: _DRAFTS_MAX - 1])).delete()


def _store(found: CatalogueDifference, *, at: datetime, actor: Actor) -> None:
    _keep_marker_versions(found, at)
    _assign_ids(found.labs)
    upsert_rows_by_id(Lab, found.labs)
    for marker in found.markers:
        marker.lab_id = marker.lab.pk
    _assign_ids(found.markers)
    upsert_rows_by_id(Marker, found.markers)
    for result in found.results:
        result.marker_id = result.marker.pk
    _assign_ids(found.results)
    upsert_rows_by_id(ExpectedResult, found.results)
    for center in found.centers:
        center.lab_id = center.lab.pk
    upsert_service_centers(found.centers)
    for change in found.panels:
        _change_panel(change, at, actor)


def _keep_marker_versions(found: CatalogueDifference, at: datetime) -> None:
    MarkerVersion.objects.bulk_create(
        build_marker_version(marker, replaced_at=at)
        for marker in found.changed.values()
    )


def _change_panel(change: PanelChange, at: datetime, actor: Actor) -> None:
    """Change a panel and keep its version, with an entry in its team's audit."""
    panel = change.panel
    version = LabTestVersion(
        tenant=panel.tenant,
        lab_test=panel,
        replaced_at=at,
        price=panel.price,
        fasting=panel.fasting,
    )
    version.save(force_insert=True)
    version.markers.set(panel.markers.all())
    changes: dict[str, list[object]] = {
        "price": [str(panel.price), str(change.price)],
        "fasting": [panel.fasting, change.fasting],
        "markers": [
            [marker.provider_id for marker in panel.markers.all()],
            [marker.provider_id for marker in change.markers],
        ],
    }
    panel.markers.set(change.markers)
    LabTest.unscoped.filter(pk=panel.pk).update(
        price=change.price, fasting=change.fasting, updated_at=at
    )
    record_change(
        tenant=panel.tenant,
        actor=actor,
        verb="update_lab_catalogue",
        subject="lab_test",
        subject_id=panel.pk,
        changes={name: pair for name, pair in changes.items() if pair[0] != pair[1]},
    )


def _assign_ids(rows: Iterable[Any]) -> None:
    """Give rows that are new an id of production."""
    new = [row for row in rows if row.pk is None]
    ids = fetch_rows(_IDS, {"number": len(new)}) if new else []
    for row, (number,) in zip(new, ids, strict=True):
        row.pk = number


def _pack_change(change: Change) -> dict[str, Any]:
    return {
        "kind": str(change.kind),
        "table": change.table,
        "key": change.key,
        "name": change.name,
        "fields": [list(each) for each in change.fields],
    }


def _pack(contents: Mapping[str, bytes]) -> bytes:
    texts = {name: base64.b64encode(text).decode() for name, text in contents.items()}
    return zlib.compress(json.dumps(texts).encode())
