"""Files on the connect page: upload one and follow its import."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.queries.branding import find_team_branding
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import allow_larger_request_body
from users.operations.connect.link_sessions import build_link_redirect_url
from users.operations.connect.linking import (
    find_connectable_source,
    import_file_from_connect_link,
)
from users.operations.imports.files import BODY_MAX_BYTES
from users.operations.imports.status import explain_refused_import
from users.queries.imports import get_health_data_import
from users.states.imports import ImportStatus
from users.states.links import Way
from users.web.connect.entry import (
    get_link_holder_actor,
    has_connect_link_cookie,
    require_connect_link_cookie,
)

if TYPE_CHECKING:
    from django.http import HttpRequest

    from users.models import ImportJob, LinkSession

POLL_SECONDS = 2


class FileForm(forms.Form):
    """Upload form of a file of health data."""

    file = forms.FileField(
        allow_empty_file=True,  # the operation refuses it, by its code
        error_messages={"required": gettext_lazy("Choose a file.")},
        widget=forms.FileInput(
            attrs={
                "accept": ".zip,.xml,.fit,.gpx,.tcx,.gz,.csv,.json,.ndjson,.jsonl,.db"
            }
        ),
    )


@allow_larger_request_body(BODY_MAX_BYTES, of=has_connect_link_cookie)
@require_http_methods(["GET", "HEAD", "POST"])
@require_connect_link_cookie
def upload_file_on_connect_page(
    request: HttpRequest, session: LinkSession, provider: str
) -> HttpResponse:
    """Serve GET and POST /connect/{session_id}/{provider}/file/."""
    try:
        source = find_connectable_source(session, provider, Way.FILE)
    except NotFound:
        raise Http404 from None
    is_sent = request.method == "POST"
    form = FileForm(request.POST, request.FILES) if is_sent else FileForm()
    if form.is_bound and form.is_valid():
        try:
            job = import_file_from_connect_link(
                session=session,
                actor=get_link_holder_actor(request),
                provider=provider,
                file=form.cleaned_data["file"],
            )
        except DomainError as refusal:
            form.add_error("file", refusal.message)
        else:
            place = reverse("connect:progress", args=[session.uuid, job.id])
            if request.headers.get("HX-Request"):
                return HttpResponse(status=204, headers={"HX-Redirect": place})
            return HttpResponseRedirect(place)
    return render(
        request,
        "connect/file.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "source": source,
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_safe
@require_connect_link_cookie
def show_import_progress(
    request: HttpRequest, session: LinkSession, import_id: str
) -> HttpResponse:
    """Serve GET …/imports/{import_id}/: progress, polling until it ends."""
    job = _import_of(session, import_id)
    is_part = request.headers.get("HX-Request") and not request.headers.get(
        "HX-Boosted"
    )
    return render(
        request,
        "connect/_progress.html" if is_part else "connect/progress.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "job": job,
            "refusal": explain_refused_import(job),
            "poll_seconds": POLL_SECONDS if job.is_open else 0,
        },
    )


@require_safe
@require_connect_link_cookie
def redirect_to_company_after_import(
    request: HttpRequest, session: LinkSession, import_id: str
) -> HttpResponse:
    """Serve GET …/imports/{import_id}/finish/: redirect to redirect_url."""
    job = _import_of(session, import_id)
    if job.status != ImportStatus.COMPLETED or not session.redirect_url:
        raise Http404
    return HttpResponseRedirect(
        build_link_redirect_url(session, state="success", provider=job.provider)
    )


def _import_of(session: LinkSession, import_id: str) -> ImportJob:
    try:
        return get_health_data_import(user=session.user, import_id=UUID(import_id))
    except (ValueError, NotFound):
        raise Http404 from None
