"""Phones on the connect page: choose an app, pair it, see that it sends, stop it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from accounts.operations.audit.entries import record_read
from accounts.queries.branding import find_team_branding
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.links import build_absolute_url
from portal.ui.qr import draw_qr_code
from users.operations.phones.pairing import create_pairing_code
from users.operations.phones.tokens import PhoneDetails, create_phone, revoke_phone
from users.queries.phones import find_pairing_code, find_phone, list_user_phones
from users.states.phones import PhoneApp
from users.web.connect.entry import get_link_holder_actor, require_connect_link_cookie

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from users.models import LinkSession, PairingCode, Phone

POLL_SECONDS = 3


@dataclass(frozen=True, slots=True)
class AppChoice:
    """An app that people may have, and the page of its steps."""

    app: PhoneApp
    name: object
    description: object
    title: object

    @property
    def slug(self) -> str:
        """Return its name in addresses."""
        return self.app.value


CHOICES = (
    AppChoice(
        PhoneApp.OPEN_WEARABLES,
        gettext_lazy("An app that asks for a code"),
        gettext_lazy("iPhone, Android and Samsung: the app of your care team"),
        gettext_lazy("Connect an app with a code"),
    ),
    AppChoice(
        PhoneApp.HEALTH_AUTO_EXPORT,
        gettext_lazy("Health Auto Export"),
        gettext_lazy("iPhone and Apple Watch, with a REST API automation"),
        gettext_lazy("Connect Health Auto Export"),
    ),
    AppChoice(
        PhoneApp.HCGATEWAY,
        gettext_lazy("HCGateway"),
        gettext_lazy("Android phones and watches, from Health Connect"),
        gettext_lazy("Connect HCGateway"),
    ),
)


@require_http_methods(["GET", "HEAD", "POST"])
@require_connect_link_cookie
def connect_phone(request: HttpRequest, session: LinkSession) -> HttpResponse:
    """Serve GET and POST /connect/{session_id}/phone/: `app` leads to its steps.

    A POST makes a code, or for an app that takes none a token; both are shown once.
    """
    wanted = request.POST.get("app") or request.GET.get("app", "")
    choice = next((each for each in CHOICES if each.slug == wanted), None)
    actor = get_link_holder_actor(request)
    code: PairingCode | None = None
    shown, token, problem = "", "", ""
    if request.method == "POST" and choice is not None:
        try:
            if choice.app == PhoneApp.HEALTH_AUTO_EXPORT:
                _phone, tokens = create_phone(
                    user=session.user, actor=actor, details=PhoneDetails(choice.app)
                )
                token = tokens.access
            else:
                new = create_pairing_code(user=session.user, actor=actor)
                shown, code = new.code, new.row
        except DomainError as refusal:
            problem = refusal.message
    else:
        record_read(
            tenant=session.tenant,
            actor=actor,
            subject="phones",
            subject_id=session.user.uuid,
            user_uuid=session.user.uuid,
        )
    pair = build_absolute_url(reverse("phone_pair"))
    return render(
        request,
        "connect/phone.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "choices": CHOICES,
            "choice": choice,
            "code": code,
            "code_halves": (shown[:4], shown[4:]) if shown else (),
            # The code is behind the fragment, which no server sees or logs. HCGateway
            # scans nothing.
            "qr": draw_qr_code(f"{pair}#{shown}")
            if shown and choice and choice.app != PhoneApp.HCGATEWAY
            else "",
            "token": token,
            "problem": problem,
            "push_url": build_absolute_url(reverse("phone_health_auto_export")),
            "host": build_absolute_url("/").rstrip("/"),
            "phones": list_live_phones(session),
            "poll_seconds": POLL_SECONDS,
        },
        status=422 if problem else 200,
    )


@require_safe
@require_connect_link_cookie
def show_pairing_progress(
    request: HttpRequest, session: LinkSession, code_id: str
) -> HttpResponse:
    """Serve GET …/phone/codes/{code_id}/: whether a phone was paired with a code."""
    code = find_pairing_code(user=session.user, code_id=code_id)
    if code is None:
        raise Http404
    phone = find_phone(user=session.user, phone_id=str(code.phone_id))
    is_open = code.is_open()
    return render(
        request,
        "connect/_pairing.html",
        {
            "session": session,
            "brand": find_team_branding(session.tenant),
            "code": code,
            "phone": phone,
            "is_open": is_open,
            "poll_seconds": POLL_SECONDS if is_open else 0,
        },
    )


@require_POST
@require_connect_link_cookie
def disconnect_phone(
    request: HttpRequest, session: LinkSession, phone_id: str
) -> HttpResponse:
    """Serve POST …/phone/{phone_id}/disconnect/: end a phone's access at once."""
    phone = find_phone(user=session.user, phone_id=phone_id)
    if phone is None:
        raise Http404
    try:
        revoke_phone(phone=phone, actor=get_link_holder_actor(request))
    except NotFound:
        raise Http404 from None
    return HttpResponseRedirect(reverse("connect:phone", args=[session.uuid]))


def list_live_phones(session: LinkSession) -> list[Phone]:
    """Return the phones of a link's user that may send."""
    found = list_user_phones(user=session.user)
    return [each for each in found if each.revoked_at is None]


_HUBS = {"apple_health_kit", "health_connect", "samsung_health"}


def offers_phones(session: LinkSession) -> bool:
    """Return whether a link's filters leave any source that phones send."""
    only = {session.provider} - {""} or set(session.filter_on_providers)
    return not only or bool(only & _HUBS)
