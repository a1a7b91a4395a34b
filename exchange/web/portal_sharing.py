"""Shared links in the users' portal: a user shares signed results, and revokes links.

The page itself shows no value: a portal link may be forwarded. To share takes the
user's birth date besides, and that the team lets users share. Links that a user made
before it stopped are still listed, to be revoked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.queries.branding import find_team_branding
from accounts.web.dialogs import read_posted
from exchange.operations.sharing.links import (
    LINK_ACTOR,
    create_shared_link,
    revoke_shared_link,
)
from exchange.queries.shareable import list_shareable_reports
from exchange.queries.shared_links import list_shared_links
from exchange.web.forms import ShareForm
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.ui.qr import draw_qr_code
from users.operations.connect.birth_dates import (
    can_confirm_birth_date,
    confirm_birth_date,
)
from users.web.connect.entry import get_link_holder_actor, require_connect_link_cookie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest, HttpResponse

    from exchange.operations.sharing.links import MadeLink
    from exchange.queries.shareable import ShareableReport
    from users.models import LinkSession


class OwnShareForm(ShareForm):
    """The form in the portal: the birth date besides, and no label."""

    birth_date = forms.DateField(
        widget=forms.DateInput(attrs={"type": "date"}),
        error_messages={
            "required": gettext_lazy("Enter your birth date."),
            "invalid": gettext_lazy("Enter a date."),
        },
    )

    def __init__(
        self, listed: Sequence[ShareableReport], *args: Any, **options: Any
    ) -> None:
        super().__init__(listed, *args, **options)
        del self.fields["label"]


@require_http_methods(["GET", "HEAD", "POST"])
@require_connect_link_cookie
def share_own_results(request: HttpRequest, session: LinkSession) -> HttpResponse:
    """Serve GET and POST …/share/: what can be shared, own links, and a new one."""
    user = session.user
    links = list_shared_links(user, is_users_own=True)
    is_on = session.tenant.user_sharing_enabled
    if not session.opens_portal or not (is_on or links):
        raise Http404
    listed = list_shareable_reports(tenant=session.tenant, user_uuid=user.uuid)
    form = OwnShareForm(listed, read_posted(request))
    made = None
    if request.method == "POST" and form.is_valid():
        made = _share(request, session, form)
        form = form if made is None else OwnShareForm(listed)
    record_read(
        tenant=session.tenant,
        actor=get_link_holder_actor(request),
        subject=LINK_ACTOR,
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return render(
        request,
        "exchange/portal_share.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "form": form,
            "has_reports": bool(listed),
            "can_confirm": can_confirm_birth_date(session),
            "links": list_shared_links(user, is_users_own=True) if made else links,
            "is_on": is_on,
            "made": made,
            "qr": draw_qr_code(made.url) if made else "",
        },
        status=422 if form.errors else 200,
    )


@require_POST
@require_connect_link_cookie
def revoke_own_link(
    request: HttpRequest, session: LinkSession, shared_link_id: str
) -> HttpResponse:
    """Serve POST …/share/{id}/revoke/: end a link that the user made."""
    if not session.opens_portal:
        raise Http404
    try:
        revoke_shared_link(
            user=session.user,
            actor=get_link_holder_actor(request),
            link_id=UUID(shared_link_id),
            is_users_own=True,
        )
    except (NotFound, ValueError):
        raise Http404 from None
    except DomainError:
        pass  # it has ended already, which is what was wanted
    return HttpResponseRedirect(reverse("sharing:portal", args=[session.uuid]))


def _share(
    request: HttpRequest, session: LinkSession, form: OwnShareForm
) -> MadeLink | None:
    """Make the link that a valid form asks for; None, with a fault, if refused."""
    try:
        confirm_birth_date(session=session, given=form.cleaned_data["birth_date"])
        return create_shared_link(
            user=session.user,
            actor=get_link_holder_actor(request),
            request=form.build_request(is_users_own=True),
        )
    except NotFound:
        form.add_error(None, _("Too many wrong birth dates. Ask for a new link."))
    except DomainError as refusal:
        field = refusal.field if refusal.field in form.fields else None
        form.add_error(field, refusal.message)
    return None
