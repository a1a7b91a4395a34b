"""Panels of a team: create, approve, rename, archive and unarchive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.models import LabTest, Marker
from labs.models.catalogue import PANEL_NAME_MAX_LENGTH, sum_known_prices
from labs.queries.accounts import get_linked_lab_account
from labs.queries.catalogue import get_lab_by_slug
from labs.states.catalogue import LAB_TEST_MOVES, CollectionMethod, LabTestStatus
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab
    from portal.lib.actor import Actor

DESCRIPTION_MAX_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class LabTestRequest:
    """A panel to create (contract 6.3).

    Its markers by our ids, or by the codes of the lab that `lab_slug` or the account
    names. `fasting` None: as its markers need it.
    """

    name: str
    method: CollectionMethod
    description: str
    marker_ids: tuple[int, ...] = ()
    provider_ids: tuple[str, ...] = ()
    fasting: bool | None = None
    lab_slug: str = ""
    lab_account_id: UUID | None = None


@transaction.atomic
def create_lab_test(
    *, tenant: Tenant, actor: Actor, request: LabTestRequest
) -> LabTest:
    """Create a panel pending approval; its price is the sum of its markers.

    Raises: name_missing, name_too_long, description_too_long, markers_invalid,
    lab_missing, several_labs, marker_not_orderable, collection_method_not_offered;
    lab_not_found, lab_account_not_found, marker_not_found (404).
    Source: Contract 6.3.
    """
    name = _validate_name(request.name)
    if len(request.description) > DESCRIPTION_MAX_LENGTH:
        raise DomainError(
            "description_too_long",
            _("Enter at most %(most)d characters.") % {"most": DESCRIPTION_MAX_LENGTH},
            "description",
        )
    lab = _find_requested_lab(tenant, request)
    markers = _find_requested_markers(tenant, request, lab)
    lab = lab or markers[0].lab
    if {marker.lab_id for marker in markers} != {lab.pk}:
        raise DomainError("several_labs", _("Choose markers of one lab."), "marker_ids")
    for marker in markers:
        if not marker.is_orderable:
            raise DomainError(
                "marker_not_orderable",
                _("%(marker)s can't be ordered.") % {"marker": marker.name},
                "marker_ids",
            )
    if request.method not in lab.collection_methods:
        raise DomainError(
            "collection_method_not_offered",
            _("%(lab)s does not offer this collection method.") % {"lab": lab.name},
            "method",
        )
    fasting = any(marker.fasting for marker in markers)
    panel = LabTest(
        tenant=tenant,
        lab=lab,
        name=name,
        slug=slugify(name) or "panel",
        description=request.description,
        sample_type=markers[0].sample_type,
        method=str(request.method),
        price=sum_known_prices(markers),
        fasting=fasting if request.fasting is None else request.fasting,
    )
    panel.save(force_insert=True)
    panel.markers.set(markers)
    _record_panel_change(
        tenant, actor, "create_lab_test", panel, {"name": [None, name]}
    )
    return panel


@transaction.atomic
def approve_lab_test(*, tenant: Tenant, actor: Actor, lab_test_id: UUID) -> LabTest:
    """Approve a pending panel so that it can be ordered.

    Raises: lab_test_not_found (404); transition_not_allowed. Source: Ours (contract
    6.3): operators approve.
    """
    panel = _lock_panel(tenant, lab_test_id)
    if panel.status != LabTestStatus.PENDING_APPROVAL:
        raise DomainError(
            "transition_not_allowed",
            _("Only a panel pending approval can be approved."),
        )
    _change_panel_status(panel, actor, "approve_lab_test", to=LabTestStatus.ACTIVE)
    return panel


@transaction.atomic
def archive_lab_test(*, tenant: Tenant, actor: Actor, lab_test_id: UUID) -> LabTest:
    """Archive a panel; its existing orders continue.

    Raises: lab_test_not_found (404); transition_not_allowed. Source: Contract 6.3.
    """
    panel = _lock_panel(tenant, lab_test_id)
    _archive_locked_panel(panel, actor)
    return panel


@transaction.atomic
def unarchive_lab_test(*, tenant: Tenant, actor: Actor, lab_test_id: UUID) -> LabTest:
    """Restore an archived panel to its earlier status.

    Raises: lab_test_not_found (404); transition_not_allowed. Source: Contract 6.3.
    """
    panel = _lock_panel(tenant, lab_test_id)
    if panel.status != LabTestStatus.INACTIVE:
        raise DomainError("transition_not_allowed", _("This panel is not archived."))
    _unarchive_locked_panel(panel, actor)
    return panel


@transaction.atomic
def update_lab_test(
    *,
    tenant: Tenant,
    actor: Actor,
    lab_test_id: UUID,
    name: str | None = None,
    is_archived: bool | None = None,
) -> LabTest:
    """Rename, archive or unarchive a panel; None leaves a value unchanged.

    Raises: lab_test_not_found (404); name_missing, name_too_long. Source: Contract 6.3
    (PATCH).
    """
    panel = _lock_panel(tenant, lab_test_id)
    if name is not None and (name := _validate_name(name)) != panel.name:
        changes: dict[str, object] = {"name": [panel.name, name]}
        panel.name = name
        panel.updated_at = timezone.now()
        panel.save(update_fields=["name", "updated_at"])
        _record_panel_change(tenant, actor, "rename_lab_test", panel, changes)
    if is_archived is not None:
        is_so = panel.status == LabTestStatus.INACTIVE
        if is_archived and not is_so:
            _archive_locked_panel(panel, actor)
        elif is_so and not is_archived:
            _unarchive_locked_panel(panel, actor)
    return panel


def _archive_locked_panel(panel: LabTest, actor: Actor) -> None:
    _change_panel_status(
        panel,
        actor,
        "archive_lab_test",
        to=LabTestStatus.INACTIVE,
        status_before_archive=panel.status,
    )


def _unarchive_locked_panel(panel: LabTest, actor: Actor) -> None:
    before = panel.status_before_archive or LabTestStatus.ACTIVE
    _change_panel_status(
        panel, actor, "unarchive_lab_test", to=before, status_before_archive=""
    )


def _change_panel_status(
    panel: LabTest, actor: Actor, verb: str, *, to: str, **changes: object
) -> None:
    """Change a panel's status; the only writer."""
    old = panel.status
    move_status(
        panel, moves=LAB_TEST_MOVES, to=to, updated_at=timezone.now(), **changes
    )
    _record_panel_change(panel.tenant, actor, verb, panel, {"status": [old, str(to)]})


def _validate_name(text: str) -> str:
    name = text.strip()
    if not name:
        raise DomainError("name_missing", _("Enter a name for the panel."), "name")
    if len(name) > PANEL_NAME_MAX_LENGTH:
        raise DomainError(
            "name_too_long",
            _("Enter at most %(most)d characters.") % {"most": PANEL_NAME_MAX_LENGTH},
            "name",
        )
    return name


def _find_requested_lab(tenant: Tenant, request: LabTestRequest) -> Lab | None:
    """Return the lab of the account or slug, which must agree; None without either."""
    lab = None
    if request.lab_account_id is not None:
        lab = get_linked_lab_account(
            tenant=tenant, account_id=request.lab_account_id
        ).lab
    if request.lab_slug:
        named = get_lab_by_slug(tenant=tenant, slug=request.lab_slug)
        if lab is not None and named != lab:
            raise DomainError(
                "several_labs", _("The lab account belongs to another lab."), "lab_slug"
            )
        lab = named
    return lab


def _find_requested_markers(
    tenant: Tenant, request: LabTestRequest, lab: Lab | None
) -> list[Marker]:
    if bool(request.marker_ids) == bool(request.provider_ids):
        raise DomainError(
            "markers_invalid",
            _("Send either marker_ids or provider_ids."),
            "marker_ids",
        )
    rows = Marker.objects.visible_to(tenant).select_related("lab").order_by("pk")
    if request.marker_ids:
        markers = list(rows.filter(pk__in=request.marker_ids))
        is_complete = set(request.marker_ids) == {marker.pk for marker in markers}
    elif lab is None:
        raise DomainError(
            "lab_missing", _("Send lab_slug together with provider_ids."), "lab_slug"
        )
    else:
        codes = request.provider_ids
        markers = list(rows.filter(lab=lab, provider_id__in=codes))
        is_complete = set(codes) == {marker.provider_id for marker in markers}
    if not is_complete:
        raise NotFound("marker_not_found", _("Marker not found."), "marker_ids")
    return markers


def _lock_panel(tenant: Tenant, lab_test_id: UUID) -> LabTest:
    rows = LabTest.objects.for_tenant(tenant).select_for_update()
    panel: LabTest | None = rows.filter(pk=lab_test_id).first()
    if panel is None:
        raise NotFound("lab_test_not_found", _("Lab test not found."))
    panel.tenant = tenant
    return panel


def _record_panel_change(
    tenant: Tenant,
    actor: Actor,
    verb: str,
    panel: LabTest,
    changes: dict[str, object],
) -> None:
    record_change(
        tenant=tenant,
        actor=actor,
        verb=verb,
        subject="lab_test",
        subject_id=panel.pk,
        changes=changes,
    )
