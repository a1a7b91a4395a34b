"""What the pages of unmatched reports and messages share: rights, labels, a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.core.exceptions import PermissionDenied

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from labs.models import InboundReport
from labs.models.inbound import WHY_MAX_LENGTH
from labs.states.inbound import UnmatchedReason
from labs.web.order_rows import PLATFORM_WORDS, format_lab_account_name
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.web.requests import TenantRequest
    from labs.models import InboundMessage
    from portal.lib.errors import DomainError

SHOWN_CHARACTERS = 20_000
PROBLEMS = "problems"


class ReasonForm(forms.Form):
    """The reason for a decision."""

    why = forms.CharField(
        max_length=WHY_MAX_LENGTH,
        required=False,
        label=gettext_lazy("Reason"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


def add_refusal(form: forms.Form, refused: DomainError, otherwise: str) -> None:
    known = refused.field is not None and refused.field in form.fields
    form.add_error(refused.field if known else otherwise, refused.message)


def require_patient_rights(request: TenantRequest, *, write: bool) -> None:
    """Require the right to patient details, after the tenant is checked."""
    if not request.rights.allow(Area.PATIENT_DETAILS) or (
        write and not request.rights.allow(Area.ORDERS, write=True)
    ):
        raise PermissionDenied


def record_patient_read(
    request: TenantRequest,
    subject: str,
    subject_id: UUID,
    row: InboundReport | None = None,
) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=subject,
        subject_id=subject_id,
        user_uuid=row.order.user.uuid if row and row.order else None,
    )


def build_account_label(row: InboundReport | InboundMessage) -> str:
    message = row.message if isinstance(row, InboundReport) else row
    account = message.lab_account
    return format_lab_account_name(account) if account else PLATFORM_WORDS


def build_reason_label(row: InboundReport | InboundMessage) -> str:
    agreements = getattr(row, "reason", "")
    known = UnmatchedReason.known(agreements)
    return str(known.label) if known else agreements
