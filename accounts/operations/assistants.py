"""Assistants: whether a key may be used by one, and what it read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import AssistantCall, Tenant
from accounts.models.assistant_call import (
    ASSISTANT_CALL_RETENTION_DAYS,
    CLIENT_MAX_LENGTH,
    DETAIL_MAX_LENGTH,
    TOOL_MAX_LENGTH,
)
from accounts.operations.api_keys.api_keys import find_api_key_grant
from accounts.states import Area
from portal.lib.errors import NotAllowed

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.operations.api_keys.api_keys import KeyGrant


@dataclass(frozen=True, slots=True)
class AssistantQuestion:
    """A question of an assistant to record; the fields are those of AssistantCall."""

    tool: str
    detail: str
    client: str
    user_uuid: UUID | None
    calls: int
    ms: int
    refusal: str = ""


def admit_assistant(*, key: str, address: str | None) -> KeyGrant | None:
    """Return the grant of a key that an assistant may use; None for no valid key.

    The calls that follow are held to the key's scopes, limits and networks themselves.
    Raises: address_not_allowed; scope_missing (the key lacks `assistant:read`);
    assistants_off (the team did not turn them on). Source: Ours: a key that a server
    uses must not be one that an assistant can.
    """
    grant = find_api_key_grant(key, address=address)
    if grant is None:
        return None
    if not grant.admits(address):
        raise NotAllowed(
            "address_not_allowed", _("This key cannot be used from this IP address.")
        )
    if grant.scopes is None or not grant.allows(Area.ASSISTANT, write=False):
        raise NotAllowed(
            "scope_missing",
            _("This key lacks the scope assistant:read. Full access is not enough."),
        )
    if not Tenant.objects.filter(pk=grant.tenant.pk, assistants_enabled=True).exists():
        raise NotAllowed(
            "assistants_off", _("Assistants are turned off for this environment.")
        )
    return grant


def record_assistant_call(*, grant: KeyGrant, question: AssistantQuestion) -> None:
    """Record what an assistant asked with a key; texts are cut to their length."""
    AssistantCall(
        tenant_id=grant.tenant.pk,
        api_key_id=grant.key_id,
        tool=question.tool[:TOOL_MAX_LENGTH],
        detail=question.detail[:DETAIL_MAX_LENGTH],
        client=question.client[:CLIENT_MAX_LENGTH],
        user_uuid=question.user_uuid,
        calls=question.calls,
        ms=question.ms,
        refusal=question.refusal[:64],
    ).save(force_insert=True)


def delete_assistant_calls_of_user(*, tenant_pk: int, user_uuid: UUID) -> int:
    """Delete the calls about a user; return how many."""
    mine = AssistantCall.unscoped.filter(tenant=tenant_pk, user_uuid=user_uuid)
    removed, _by_model = mine.delete()
    return removed


def delete_old_assistant_calls() -> int:
    """Delete those past their retention, of all tenants; return how many."""
    ends = timezone.now() - timedelta(days=ASSISTANT_CALL_RETENTION_DAYS)
    removed, _by_model = AssistantCall.unscoped.filter(at__lt=ends).delete()
    return removed
