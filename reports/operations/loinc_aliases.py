"""A team's LOINC mappings: proposed by one member, active once a second approves."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.database.transitions import move_status
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import LoincAlias
from reports.operations.reading.extraction import build_parsed_value_from_json
from reports.operations.review.checks import (
    convert_stored_row_to_parsed_result,
    recheck_changed_results,
)
from reports.operations.review.reviews import record_review_change_in_audit_log
from reports.operations.review.saving import lock_review_rows
from reports.parser.loinc import search_loinc_codes
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.loinc.search import is_loinc_hit_contradicted
from reports.parser.report import LoincMatch, LoincMatchStatus, LoincReason
from reports.states import ALIAS_MOVES, AliasStatus

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.operations.review.saving import RowRef
    from reports.parser.report import ParsedReport, ParsedResult

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
    if not build_name_key(lab):
        raise DomainError("alias_needs_lab", _("The report names no lab."))
    if not result.loinc_matches:
        raise DomainError("alias_needs_code", _("Choose a LOINC code first."))
    keys = _keys(lab, result)
    longest = max(len(lab), len(result.test_name), *map(len, keys[:2]))
    if longest > NAME_MAX_LENGTH or len(keys[2]) > UNITS_MAX_LENGTH:
        raise DomainError(
            "alias_name_too_long",
            _("Name over 200 or unit over 100 characters: too long to map."),
        )
    known = LoincAlias.objects.for_tenant(tenant).exclude(status=AliasStatus.ENDED)
    lab_key, key, units = keys
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


def apply_loinc_aliases_to_report(
    *, tenant: Tenant, report: ParsedReport
) -> ParsedReport:
    """Return the report with the codes of active mappings put first.

    A code that the row's unit or specimen speaks against goes to a person. The checks
    run again where a code changed. One query, none where the lab is not named. Source:
    Ours (workflow D1).
    """
    lab_key = build_name_key(report.metadata.lab_name or "")
    if not lab_key:
        return report
    live = LoincAlias.objects.for_tenant(tenant).filter(
        lab_key=lab_key, status=AliasStatus.LIVE
    )
    aliases = {(one.name_key, one.units): one for one in live}
    results = tuple(
        _aliased(result, aliases.get(_keys("", result)[1:]))
        for result in report.results
    )
    if results == report.results:
        return report
    report = replace(report, results=results)
    return replace(report, notes=recheck_changed_results(report))


def _aliased(result: ParsedResult, alias: LoincAlias | None) -> ParsedResult:
    if alias is None:
        return result
    hits = search_loinc_codes(
        alias.loinc_code, unit=result.units, specimen=result.sample_type
    )
    hit = next((hit for hit in hits if hit.loinc_code == alias.loinc_code), None)
    doubtful = hit is not None and is_loinc_hit_contradicted(hit)
    remembered: dict[str, Any] = alias.match
    aliased_match: LoincMatch = build_parsed_value_from_json(LoincMatch, remembered)
    match = replace(
        aliased_match,
        confidence_score=1.0,
        reasons=(LoincReason.TEAM_ALIAS, *(hit.reasons if hit else ())),
    )
    others = tuple(
        one for one in result.loinc_matches if one.loinc_code != alias.loinc_code
    )
    return replace(
        result,
        loinc_matches=(match, *others),
        loinc_match_status=LoincMatchStatus.NEEDS_REVIEW
        if doubtful
        else LoincMatchStatus.AUTO_MATCH,
        confidence=replace(result.confidence, loinc=0.5 if doubtful else 1.0),
    )


def _keys(lab: str, result: ParsedResult) -> tuple[str, str, str]:
    """What an alias is found by: lab, name and unit, each blind to its spelling."""
    units = result.ucum or (result.units or "").strip().casefold()
    return build_name_key(lab), build_name_key(result.test_name), units


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
