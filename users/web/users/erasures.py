"""Erasure receipts: the list, a printable page, and the signed file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from portal.lib.database.sorting import sort_as_asked
from portal.lib.errors import NotFound
from portal.lib.secrets.signatures import (
    Signature,
    is_signed_with_installation_key,
    is_valid_signature,
)
from portal.lib.web.views import Pager, parse_list_offset, render_page
from users.models import ErasureReceipt
from users.operations.erasure import build_erasure_receipt_file
from users.web.columns import ERASURES

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

PAGE_SIZE = 50


@require_GET
@require_right(Area.AUDIT)
def list_erasure_receipts(request: TenantRequest) -> HttpResponse:
    receipts = ErasureReceipt.objects.for_tenant(request.tenant)
    offset = parse_list_offset(request)
    columns = read_list_columns(request, ERASURES)
    newest = ("-erased_at", "pk")
    listed = sort_as_asked(
        receipts.order_by(*newest), order_by=columns.order_asked, newest=newest
    )
    return render_page(
        request,
        "users/erasures.html",
        columns=columns,
        receipts=listed[offset : offset + PAGE_SIZE],
        pager=Pager(receipts.count(), offset, PAGE_SIZE),
        section="audit",
    )


@require_GET
@require_right(Area.AUDIT)
def show_erasure_receipt(request: TenantRequest, receipt_id: str) -> HttpResponse:
    found = _find(request, receipt_id)
    if request.GET.get("format") == "json":
        answer = HttpResponse(
            json.dumps(build_erasure_receipt_file(found), indent=2),
            content_type="application/json",
        )
        answer["Content-Disposition"] = (
            f'attachment; filename="erasure-{found.pk}.json"'
        )
        return answer
    data = json.loads(found.document)
    signature = Signature(found.public_key, found.signature)
    return render_page(
        request,
        "users/erasure.html",
        receipt=found,
        told=data,
        removed=sorted(data["removed_rows"].items()),
        total=sum(data["removed_rows"].values()),
        kept=sorted(data["kept"].items()),
        lake=data.get("copies", {}).get("lake"),
        is_whole=is_valid_signature(found.document.encode(), signature),
        is_own_signature=is_signed_with_installation_key(signature),
        section="audit",
    )


def _find(request: TenantRequest, receipt_id: str) -> ErasureReceipt:
    try:
        key = UUID(receipt_id)
    except ValueError:
        raise NotFound("not_found", _("Receipt not found.")) from None
    rows = ErasureReceipt.objects.for_tenant(request.tenant).filter(pk=key)
    found: ErasureReceipt | None = rows.first()
    if found is None:
        raise NotFound("not_found", _("Receipt not found."))
    return found
