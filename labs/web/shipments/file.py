"""Page that records shipment events from a CSV file, after a dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from labs.operations.shipments.files import (
    BYTES_MAX,
    COLUMNS,
    ROWS_MAX,
    FileRow,
    apply_shipment_file,
    preview_shipment_file,
)
from labs.states.shipments import ShipmentStatus
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


class ShipmentFileForm(forms.Form):
    """A file to check, or with `content` the checked one to record."""

    file = forms.FileField(
        required=False,
        allow_empty_file=True,
        error_messages={"required": gettext_lazy("Choose a file.")},
    )
    content = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def read_content(self) -> bytes:
        """Return the bytes of the file, or of the one that was checked."""
        file = self.cleaned_data["file"]
        if file is None:
            return str(self.cleaned_data["content"]).encode()
        return bytes(file.read(BYTES_MAX + 1))


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.SHIPMENTS, write=True)
def import_shipment_file(request: TenantRequest) -> HttpResponse:
    """Check a file and show each row's fault; record it when confirmed."""
    is_post = request.method == "POST"
    form = ShipmentFileForm(request.POST, request.FILES) if is_post else None
    form = form or ShipmentFileForm()
    rows: list[FileRow] = []
    content = b""
    is_recorded = "record" in request.POST
    if is_post and form.is_valid():
        content = form.read_content()
        try:
            if not content:
                form.add_error("file", _("Choose a file."))
            elif is_recorded:
                rows = apply_shipment_file(
                    tenant=request.tenant, actor=request.actor, content=content
                )
            else:
                rows = preview_shipment_file(
                    tenant=request.tenant, actor=request.actor, content=content
                )
        except DomainError as refused:
            form.add_error("file", refused.message)
    good = sum(not row.fault for row in rows)
    return render_page(
        request,
        "labs/shipment_file.html",
        status=422 if form.errors else 200,
        form=form,
        rows=rows,
        good=good,
        bad=len(rows) - good,
        is_recorded=is_recorded and bool(rows),
        is_checked=is_post and not form.errors,
        content=content.decode("utf-8-sig") if rows else "",
        columns=COLUMNS,
        statuses=ShipmentStatus.values,
        rows_max=ROWS_MAX,
        section="orders",
    )
