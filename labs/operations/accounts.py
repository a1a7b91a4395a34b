"""Create, update and link lab accounts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Team
from accounts.operations.audit.entries import record_change
from labs.models import LabAccount, LabAccountTeam
from labs.states.accounts import (
    LAB_ACCOUNT_MOVES,
    US_STATES,
    AccountGateway,
    Billing,
    DelegatedFlow,
    HeldLinesAnswer,
    LabAccountStatus,
)
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab
    from portal.lib.actor import Actor

NAME_MAX_LENGTH = 150
NUMBER_MAX_LENGTH = 50
# Concatenated with an order's comment on the requisition, which has room for both.
DEFAULT_NOTES_MAX_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class LabAccountRequest:
    """The details staff enter for a lab account (contract 6.4)."""

    provider_account_id: str
    account_name: str = ""
    delegated_flow: str = DelegatedFlow.NOT_DELEGATED
    default_clinical_notes: str = ""
    business_units: tuple[str, ...] = ()
    allowed_billing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hl7_one_message_per_test: bool = False
    hl7_payer_in_in1: bool = False
    held_lines_answer: str = HeldLinesAnswer.ACCEPTED
    gateway: str = AccountGateway.INSTALLATION


@transaction.atomic
def create_lab_account(
    *, tenant: Tenant, actor: Actor, lab: Lab, request: LabAccountRequest
) -> LabAccount:
    """Create a pending account of the organization, linked to the tenant's team.

    Raises: lab_not_found (404), for a lab of the other environment;
    account_number_missing, account_number_too_long, account_number_taken,
    account_name_too_long, default_notes_too_long, delegated_flow_unknown,
    held_lines_answer_unknown, gateway_unknown, billing_unknown, state_unknown. Source:
    Contract 9.3.
    """
    if lab.environment != tenant.environment:
        raise NotFound("lab_not_found", _("Lab not found."), "lab")
    account = LabAccount(
        organisation_id=tenant.team.organisation_id,
        environment=tenant.environment,
        lab=lab,
        **_validate_request(request),
    )
    _save_account(account, force_insert=True)
    LabAccountTeam(account=account, team_id=tenant.team_id).save(force_insert=True)
    _record_account_change(
        tenant,
        actor,
        "create_lab_account",
        account,
        {
            "lab": [None, lab.slug],
            "provider_account_id": [None, account.provider_account_id],
        },
    )
    return account


@transaction.atomic
def update_lab_account(
    *, tenant: Tenant, actor: Actor, account: LabAccount, request: LabAccountRequest
) -> LabAccount:
    """Update an account's details. Raises: as create_lab_account."""
    account = _lock_account(tenant, account)
    changes = {
        name: [getattr(account, name), value]
        for name, value in _validate_request(request).items()
        if getattr(account, name) != value
    }
    if changes:
        for name, (_before, value) in changes.items():
            setattr(account, name, value)
        account.updated_at = timezone.now()
        _save_account(account, update_fields=[*changes, "updated_at"])
        _record_account_change(tenant, actor, "change_lab_account", account, changes)
    return account


@transaction.atomic
def change_lab_account_status(
    *, tenant: Tenant, actor: Actor, account: LabAccount, to: LabAccountStatus
) -> LabAccount:
    """Change an account's status; the only writer. Raises: transition_not_allowed."""
    account = _lock_account(tenant, account)
    old = account.status
    move_status(account, moves=LAB_ACCOUNT_MOVES, to=to, updated_at=timezone.now())
    _record_account_change(
        tenant, actor, "move_lab_account", account, {"status": [old, str(to)]}
    )
    return account


@transaction.atomic
def set_lab_account_teams(
    *, tenant: Tenant, actor: Actor, account: LabAccount, team_ids: Sequence[UUID]
) -> LabAccount:
    """Set the organization's teams that may use an account, by their ids.

    Raises: team_unknown. Source: Contract 9.1 (`team_id_allowlist`).
    """
    account = _lock_account(tenant, account)
    chosen = set(team_ids)
    known = Team.objects.filter(
        organisation_id=account.organisation_id, pk__in=chosen
    ).values_list("pk", flat=True)
    if chosen - set(known):
        raise DomainError(
            "team_unknown",
            _("The organization has no team with this ID."),
            "team_id_allowlist",
        )
    links = LabAccountTeam.objects.filter(account=account)
    before = set(links.values_list("team_id", flat=True))
    links.exclude(team_id__in=chosen).delete()
    LabAccountTeam.objects.bulk_create(
        LabAccountTeam(account=account, team_id=team_id) for team_id in chosen - before
    )
    if chosen != before:
        _record_account_change(
            tenant,
            actor,
            "link_lab_account",
            account,
            {"team_id_allowlist": [sorted(map(str, before)), sorted(map(str, chosen))]},
        )
    return account


def _lock_account(tenant: Tenant, account: LabAccount) -> LabAccount:
    rows = LabAccount.objects.of_organisation(tenant).select_for_update(of=("self",))
    found = rows.select_related("lab").filter(pk=account.pk).first()
    if found is None:
        raise NotFound("lab_account_not_found", _("Lab account not found."))
    return found


def _save_account(account: LabAccount, **how: Any) -> None:
    try:
        with transaction.atomic():
            account.save(**how)
    except IntegrityError:
        raise DomainError(
            "account_number_taken",
            _("An account with this number already exists at this lab."),
            "provider_account_id",
        ) from None


def _validate_request(request: LabAccountRequest) -> dict[str, Any]:
    """Return a request's columns, trimmed; states sorted, so that equals compare so."""
    number = request.provider_account_id.strip()
    if not number:
        raise DomainError(
            "account_number_missing",
            _("Enter the account number at the lab."),
            "provider_account_id",
        )
    limits = (
        ("provider_account_id", number, NUMBER_MAX_LENGTH, "account_number_too_long"),
        (
            "account_name",
            request.account_name,
            NAME_MAX_LENGTH,
            "account_name_too_long",
        ),
        (
            "default_clinical_notes",
            request.default_clinical_notes,
            DEFAULT_NOTES_MAX_LENGTH,
            "default_notes_too_long",
        ),
    )
    for name, text, most, code in limits:
        if len(text.strip()) > most:
            raise DomainError(
                code, _("Enter at most %(most)d characters.") % {"most": most}, name
            )
    if DelegatedFlow.known(request.delegated_flow) is None:
        raise DomainError(
            "delegated_flow_unknown", _("Choose a known delegation."), "delegated_flow"
        )
    if HeldLinesAnswer.known(request.held_lines_answer) is None:
        raise DomainError(
            "held_lines_answer_unknown",
            _("Choose a known answer."),
            "held_lines_answer",
        )
    if AccountGateway.known(request.gateway) is None:
        raise DomainError("gateway_unknown", _("Choose a known exchange."), "gateway")
    billing: dict[str, list[str]] = {}
    for kind, states in request.allowed_billing.items():
        if Billing.known(kind) is None:
            raise DomainError(
                "billing_unknown", _("Choose a known billing type."), "allowed_billing"
            )
        billing[kind] = sorted({state.strip().upper() for state in states})
        if set(billing[kind]) - US_STATES:
            raise DomainError(
                "state_unknown",
                _("Enter two-letter US state codes."),
                "allowed_billing",
            )
    return {
        "provider_account_id": number,
        "account_name": request.account_name.strip(),
        "default_clinical_notes": request.default_clinical_notes.strip(),
        "delegated_flow": str(request.delegated_flow),
        "business_units": [unit.strip() for unit in request.business_units],
        "allowed_billing": billing,
        "hl7_one_message_per_test": request.hl7_one_message_per_test,
        "hl7_payer_in_in1": request.hl7_payer_in_in1,
        "held_lines_answer": str(request.held_lines_answer),
        "gateway": str(request.gateway),
    }


def _record_account_change(
    tenant: Tenant,
    actor: Actor,
    verb: str,
    account: LabAccount,
    changes: Mapping[str, object],
) -> None:
    record_change(
        tenant=tenant,
        actor=actor,
        verb=verb,
        subject="lab_account",
        subject_id=account.pk,
        changes=changes,
    )
