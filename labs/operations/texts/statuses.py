"""What became of a text, as its provider reports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from labs.gateways.patient_messages.twilio import (
    find_notice_status,
    is_status_callback_signed,
)
from labs.models import PatientNotice
from labs.operations.order_status.patient_notices import (
    build_text_status_url,
    find_notice_of_token,
    mask_number,
    set_notice_status,
)
from labs.queries.text_provider import find_text_provider
from portal.lib.errors import NotAllowed, NotFound
from portal.lib.secrets.encryption import decrypt_secret
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CODE_MAX_LENGTH = 10
_ID_MAX_LENGTH = 64


def record_text_status(
    *, token: str, parameters: Mapping[str, Sequence[str]], signature: str
) -> None:
    """Record a status that the provider posted to a text's status URL.

    Also of a text whose answer was lost: it is not sent again then. A status that comes
    late or twice changes nothing, nor does that of another message of the same notice.
    Raises: text_unknown (404), of no notice of ours, of a deleted order and of a team
    that has removed the account; text_status_not_signed (403).
    """
    named = find_notice_of_token(token)
    if named is None:
        raise _unknown_error()
    tenant_pk, notice_pk = named
    tenants = Tenant.objects.select_related("team").filter(team__deleted_at=None)
    tenant = tenants.filter(pk=tenant_pk).first()
    if tenant is None:
        raise _unknown_error()
    with acting_for(tenant):
        _record_status(tenant, notice_pk, parameters, signature)


def _record_status(
    tenant: Tenant,
    notice_pk: int,
    parameters: Mapping[str, Sequence[str]],
    signature: str,
) -> None:
    provider = find_text_provider(tenant=tenant)
    rows = PatientNotice.objects.for_tenant(tenant).filter(
        pk=notice_pk, order__user__deleted_at=None
    )
    notice: PatientNotice | None = rows.select_related("order").first()
    if provider is None or notice is None:
        raise _unknown_error()
    notice.tenant = tenant
    if not is_status_callback_signed(
        auth_token=decrypt_secret(provider.auth_token),
        url=build_text_status_url(notice),
        parameters=parameters,
        signature=signature,
    ):
        raise NotAllowed(
            "text_status_not_signed", _("The signature does not match the account.")
        )
    message = _first(parameters, "MessageSid")[:_ID_MAX_LENGTH]
    status = find_notice_status(_first(parameters, "MessageStatus"))
    if status is None or (notice.provider_id and notice.provider_id != message):
        return
    set_notice_status(
        notice=notice,
        status=status,
        recipient=notice.recipient or mask_number(_first(parameters, "To")),
        provider_id=message,
        error_code=_first(parameters, "ErrorCode")[:_CODE_MAX_LENGTH],
        reported_at=timezone.now(),
    )


def _first(parameters: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(parameters.get(name, ())), "")


def _unknown_error() -> NotFound:
    return NotFound("text_unknown", _("This text is not known."))
