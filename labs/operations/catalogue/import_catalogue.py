"""Check and apply updates of production's labs, markers and expected results."""

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
from labs.operations.catalogue.catalogue_files import parse_lab_catalogue
from labs.operations.catalogue.catalogue_rows import read_catalogue_rows
from labs.operations.catalogue.locks import lock_catalogue_for_update
from labs.operations.catalogue.reference_data import upsert_rows_by_id
from labs.states.catalogue import ChangeKind
from portal.lib.database.rows import fetch_rows
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from labs.operations.catalogue.catalogue_changes import (
        CatalogueDifference,
        PanelChange,
    )
    from labs.operations.catalogue.catalogue_rows import Fault
    from portal.lib.actor import Actor

_FAULTS_SHOWN = 20
_DRAFT_LIFE = timedelta(days=1)
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
    *, contents: Mapping[str, bytes], actor: Actor, is_complete: bool = False
) -> CatalogueUpdate:
    """Check files by name and keep them with the differences that they would make.

    Nothing of the catalogue changes. Call it across tenants: open orders and panels of
    all teams count. Raises: lab_catalogue_invalid (each row's fault with its place).
    Source: Contract D23; Ours: the format of the files that ship.
    """
    lock_catalogue_for_update()
    found = _compare(contents, is_complete=is_complete, at=timezone.now())
    drafts = CatalogueUpdate.objects.filter(number=None)
    drafts.filter(created_at__lt=timezone.now() - _DRAFT_LIFE).delete()
    update = CatalogueUpdate(
        content=_pack(contents),
        is_complete=is_complete,
        base=get_catalogue_number(),
        changes=[_pack_change(change) for change in found.changes],
        created_by=actor.label,
    )
    update.save(force_insert=True)
    return update


@transaction.atomic
def apply_catalogue_update(*, update_id: UUID, actor: Actor) -> CatalogueUpdate:
    """Apply a checked update; orders keep what they were placed with.

    Call it across tenants. Raises: catalogue_update_not_found (404);
    catalogue_update_applied; catalogue_update_outdated, if another was applied since
    it was checked; lab_catalogue_invalid, if orders or panels forbid it by now.
    """
    lock_catalogue_for_update()
    rows = CatalogueUpdate.objects.select_for_update()
    update = rows.filter(pk=update_id).first()
    if update is None:
        raise NotFound("catalogue_update_not_found", _("Catalog update not found."))
    if update.number is not None:
        raise DomainError(
            "catalogue_update_applied", _("This update is applied already.")
        )
    if update.base != get_catalogue_number():
        raise DomainError(
            "catalogue_update_outdated",
            _("The catalog was updated since this was checked. Check the files again."),
        )
    # Under the lock, and so after every order that was placed with the old catalogue.
    at = timezone.now()
    found = _compare(
        _unpack(bytes(update.content)), is_complete=update.is_complete, at=at
    )
    _store(found, at=at, actor=actor)
    update.number = update.base + 1
    update.changes = [_pack_change(change) for change in found.changes]
    update.applied_at, update.applied_by = at, actor.label
    update.save()
    return update


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


def get_catalogue_number() -> int:
    """Return the number of the update that was applied last, 0 for none."""
    latest = CatalogueUpdate.objects.aggregate(number=Max("number"))["number"]
    return int(latest or 0)


def _compare(
    contents: Mapping[str, bytes], *, is_complete: bool, at: datetime
) -> CatalogueDifference:
    """Raises: lab_catalogue_invalid."""
    stored = Lab.objects.filter(environment=Environment.PRODUCTION)
    parsed = parse_lab_catalogue(
        read_catalogue_rows(contents), labs={lab.slug: lab for lab in stored}
    )
    if parsed.faults:
        raise CatalogueInvalid(parsed.faults)
    if not (parsed.labs or parsed.markers):
        raise DomainError(
            "lab_catalogue_invalid", _("The files have no labs and no markers.")
        )
    found = compare_with_stored_catalogue(parsed, is_complete=is_complete, at=at)
    if found.faults:
        raise CatalogueInvalid(found.faults)
    return found


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


def _unpack(content: bytes) -> dict[str, bytes]:
    texts = json.loads(zlib.decompress(content))
    return {name: base64.b64decode(text) for name, text in texts.items()}
