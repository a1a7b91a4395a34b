"""A team's LOINC mappings: proposed by one member, active once a second approves."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.database.transitions import move_status
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import LoincAlias
from reports.operations.review.checks import (
    convert_stored_row_to_parsed_result,
)
from reports.operations.review.reviews import record_review_change_in_audit_log
from reports.operations.review.saving import lock_review_rows
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.loinc.decision import build_loinc_mapping_key
from reports.states import ALIAS_MOVES, AliasStatus

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.operations.review.saving import RowRef

NAME_MAX_LENGTH = 200
UNITS_MAX_LENGTH = 100


@transaction.atomic
def propose_loinc_alias(*, tenant: Tenant, actor: Actor, ref: RowRef) -> LoincAlias:
    """Propose that a printed name means the row's code in all reports of its lab.

    Nothing follows before a second person agrees (approve_loinc_alias). Raises:
    review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed,
    alias_known (409); review_ended; alias_needs_lab, alias_needs_code,
    alias_name_too_long. Source: Ours (workflow D1): learning without surprise.
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    result = convert_stored_row_to_parsed_result(desk.find(ref))
    lab = desk.metadata.lab_name or ""
    lab_key = build_name_key(lab)
    if not lab_key:
        raise DomainError("alias_needs_lab", _("The report names no lab."))
    if not result.loinc_matches:
        raise DomainError("alias_needs_code", _("Choose a LOINC code first."))
    key, units = build_loinc_mapping_key(result)
    longest = max(len(lab), len(result.test_name), len(lab_key), len(key))
    if longest > NAME_MAX_LENGTH or len(units) > UNITS_MAX_LENGTH:
        raise DomainError(
            "alias_name_too_long",
            _("Name over 200 or unit over 100 characters: too long to map."),
        )
    known = LoincAlias.objects.for_tenant(tenant).exclude(status=AliasStatus.ENDED)
    if known.filter(lab_key=lab_key, name_key=key, units=units).exists():
        raise Conflict("alias_known", _("A mapping for this name already exists."))
    match = result.loinc_matches[0]
    alias = LoincAlias(
        tenant=tenant,
        lab=lab,
        lab_key=lab_key,
        name=result.test_name,
        name_key=key,
        units=units,
        loinc_code=match.loinc_code,
        match=orjson.loads(orjson.dumps(asdict(match), default=list)),
        proposed_by_key=actor.key,
        proposed_by_label=actor.label,
    )
    alias.save(force_insert=True)
    desk.review.save(update_fields=["claimed_until"])
    record_review_change_in_audit_log(
        desk.review, actor, verb="propose_alias", positions=[ref.position]
    )
    return alias


@transaction.atomic
def approve_loinc_alias(*, tenant: Tenant, actor: Actor, alias_id: int) -> LoincAlias:
    """Approve a colleague's mapping; new reports use it.

    Raises: alias_not_found (404); second_person_needed (403); transition_not_allowed.
    Source: Ours (workflow D1).
    """
    alias = _lock(tenant, alias_id)
    if alias.proposed_by_key == actor.key:
        raise NotAllowed(
            "second_person_needed", _("Another reviewer must approve this mapping.")
        )
    move_status(
        alias,
        moves=ALIAS_MOVES,
        to=AliasStatus.LIVE,
        confirmed_by_label=actor.label,
        confirmed_at=timezone.now(),
    )
    _record(alias, actor, verb="confirm_alias")
    return alias


@transaction.atomic
def end_loinc_alias(*, tenant: Tenant, actor: Actor, alias_id: int) -> LoincAlias:
    """Decline a proposal, or remove an active mapping; existing results stay.

    Raises: alias_not_found (404); transition_not_allowed. Source: Ours (workflow D1).
    """
    alias = _lock(tenant, alias_id)
    move_status(
        alias,
        moves=ALIAS_MOVES,
        to=AliasStatus.ENDED,
        ended_by_label=actor.label,
        ended_at=timezone.now(),
    )
    _record(alias, actor, verb="end_alias")
    return alias


def _lock(tenant: Tenant, alias_id: int) -> LoincAlias:
    rows = LoincAlias.objects.for_tenant(tenant).select_for_update()
    alias: LoincAlias | None = rows.filter(pk=alias_id).first()
    if alias is None:
        raise NotFound("alias_not_found", _("Mapping not found."))
    alias.tenant = tenant
    return alias


def _record(alias: LoincAlias, actor: Actor, *, verb: str) -> None:
    record_change(
        tenant=alias.tenant,
        actor=actor,
        verb=verb,
        subject="loinc_alias",
        subject_id=alias.pk,
        changes={"loinc_code": alias.loinc_code},
    )
