"""Sign in and confirm an identity with a team's OpenID provider.

Each team has an address of its own to come back to, so that no provider's answer is
taken for another's (RFC 9700, 4.4). Pages that ask lead on by a link: browsers let no
form lead to another site.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from allauth.core import ratelimit
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from accounts.gateways.base import NotVouched, ProviderFailed, ProviderUnavailable
from accounts.gateways.openid import (
    LEEWAY_S,
    build_openid_sign_in_url,
    exchange_code_for_openid_claims,
    find_openid_provider_metadata,
)
from accounts.gateways.openid_http import compute_openid_call_deadline
from accounts.models import Member, SingleSignOn
from accounts.operations.sign_in.single_sign_on import build_openid_client
from accounts.operations.sign_in.single_sign_on_entry import (
    find_or_create_membership_by_claims,
)
from accounts.states import Environment
from accounts.web.sign_in.proofs import (
    is_single_sign_on_session,
    list_teams_proven_by_provider,
    record_provider_sign_in,
)
from portal.lib.errors import DomainError
from portal.lib.network.addresses import AddressRefused
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.gateways.base import Claims

_log = logging.getLogger(__name__)
_FLOWS = "single_sign_on_flows"
# Begun and not come back; an older one of the same session is forgotten.
_MOST_FLOWS = 5
_FLOW_TTL_S = 600
_PLACE = re.compile(r"/t/(?P<slug>[-\w]+)/")
_UNAVAILABLE = 503


@require_safe
def choose_single_sign_on_team(request: HttpRequest) -> HttpResponse:
    """Ask for the team, unless the next page names it."""
    onward = _next_page(request)
    place = _PLACE.match(onward)
    team_name = request.GET.get("team", "").strip().strip("/").lower()
    slug = team_name or (place["slug"] if place else "")
    limited = _refuse_too_many(request)
    if limited:
        return limited
    if slug and SingleSignOn.objects.filter(team__slug=slug, **_LIVE).exists():
        single_sign_on_page = reverse("single_sign_on", kwargs={"team_slug": slug})
        return HttpResponseRedirect(_add_query(single_sign_on_page, next=onward))
    return _set_no_cache(
        render(
            request,
            "accounts/single_sign_on_team.html",
            {"onward": onward, "wanted": team_name},
            status=404 if team_name else 200,
        )
    )


@require_safe
def show_single_sign_on_page(request: HttpRequest, team_slug: str) -> HttpResponse:
    """Show the provider, with a link to continue there."""
    limited = _refuse_too_many(request)
    if limited:
        return limited
    return _render_page(request, _find_single_sign_on(team_slug))


@require_safe
@login_required
def confirm_identity_at_provider(request: HttpRequest) -> HttpResponse:
    """Ask to sign in at the provider again, to confirm an identity."""
    known = list_teams_proven_by_provider(request.session)
    place = _PLACE.match(_next_page(request))
    found = SingleSignOn.objects.filter(team__in=known, **_LIVE).select_related("team")
    ordered = sorted(
        found, key=lambda each: (not place or each.team.slug != place["slug"], each.pk)
    )
    if not ordered:
        raise Http404
    return _render_page(request, ordered[0], fresh="1")


@require_safe
def redirect_to_sign_in_provider(request: HttpRequest, team_slug: str) -> HttpResponse:
    """Redirect to the provider with a new state and nonce.

    Who is signed in comes here from the page that says what follows, and no other way:
    a link elsewhere would join their account to a provider without their knowing.
    """
    limited = _refuse_too_many(request)
    if limited:
        return limited
    single_sign_on = _find_single_sign_on(team_slug)
    value = request.GET.get("agreed", "")
    if not constant_time_compare(value, _consent_token(request, single_sign_on)):
        return _render_page(request, single_sign_on)
    try:
        provider = find_openid_provider_metadata(single_sign_on.issuer)
    except (ProviderFailed, AddressRefused):
        return _render_failure(request, single_sign_on, "unavailable")
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    is_fresh = request.GET.get("fresh") == "1"
    flows = request.session.get(_FLOWS, {})
    recent = list(flows.items())[1 - _MOST_FLOWS :]
    request.session[_FLOWS] = {
        **dict(recent),
        state: {
            "mark": single_sign_on.mark,
            "nonce": nonce,
            "verifier": verifier,
            "onward": _next_page(request),
            "is_fresh": is_fresh,
            "at": int(time.time()),
        },
    }
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest())
    return _set_no_cache(
        HttpResponseRedirect(
            build_openid_sign_in_url(
                provider,
                build_openid_client(single_sign_on),
                redirect_url=_return_url(single_sign_on),
                state=state,
                nonce=nonce,
                challenge=challenge.decode().rstrip("="),
                is_fresh=is_fresh,
            )
        )
    )


@require_safe
def handle_sign_in_provider_return(
    request: HttpRequest, team_slug: str
) -> HttpResponse:
    """Handle the provider's redirect: sign in, or show why not."""
    limited = _refuse_too_many(request)
    if limited:
        return limited
    single_sign_on = _find_single_sign_on(team_slug)
    flow = _take_flow(request, single_sign_on)
    if flow is None:
        return _render_failure(request, single_sign_on, "expired")
    if "code" not in request.GET:
        return _render_failure(request, single_sign_on, "refused")
    try:
        claims = _fetch_claims(request, single_sign_on, flow)
    except (ProviderUnavailable, AddressRefused) as failed:
        return _render_failure(request, single_sign_on, "unavailable", failed)
    except ProviderFailed as failed:
        return _render_failure(request, single_sign_on, "not_vouched", failed)
    return _sign_in(request, single_sign_on, claims, flow)


def _fetch_claims(
    request: HttpRequest, single_sign_on: SingleSignOn, flow: Any
) -> Claims:
    """Return the provider's claims. Raises: ProviderFailed, AddressRefused."""
    deadline = compute_openid_call_deadline()
    provider = find_openid_provider_metadata(single_sign_on.issuer, deadline=deadline)
    # RFC 9207, 2.4: who answers may say so, and then it has to be who was asked. One
    # whose metadata says that it does has to.
    unsaid = None if provider.names_itself else provider.issuer
    if request.GET.get("iss", unsaid) != provider.issuer:
        raise NotVouched("iss")
    claims = exchange_code_for_openid_claims(
        provider,
        build_openid_client(single_sign_on),
        code=request.GET["code"],
        redirect_url=_return_url(single_sign_on),
        verifier=flow["verifier"],
        nonce=flow["nonce"],
        deadline=deadline,
    )
    if flow["is_fresh"] and (claims.auth_time or 0) < flow["at"] - LEEWAY_S:
        raise NotVouched("not_fresh")
    return claims


def _sign_in(
    request: HttpRequest, single_sign_on: SingleSignOn, claims: Claims, flow: Any
) -> HttpResponse:
    signed_in = request.user if isinstance(request.user, Member) else None
    try:
        membership = find_or_create_membership_by_claims(
            single_sign_on=single_sign_on,
            claims=claims,
            address=request.META.get("REMOTE_ADDR") or None,
            signed_in=signed_in,
            is_own_session=not is_single_sign_on_session(request.session),
        )
    except DomainError as refusal:
        return _render_failure(request, single_sign_on, refusal.code)
    member = membership.member
    if signed_in is None:
        request.session.set_expiry(0)
        record_authentication(request, member, "single_sign_on")
        get_adapter(request).login(request, member)
    elif flow["is_fresh"]:
        record_authentication(request, member, "single_sign_on")
    record_provider_sign_in(
        request.session, single_sign_on, is_sign_in=signed_in is None
    )
    home = reverse(
        "home",
        kwargs={
            "team_slug": single_sign_on.team.slug,
            "environment": Environment.SANDBOX.value,
        },
    )
    return _set_no_cache(HttpResponseRedirect(flow["onward"] or home))


_LIVE = {"team__deleted_at": None}


def _find_single_sign_on(team_slug: str) -> SingleSignOn:
    found = (
        SingleSignOn.objects.filter(team__slug=team_slug, **_LIVE)
        .select_related("team")
        .first()
    )
    if found is None:
        raise Http404
    return found


def _take_flow(request: HttpRequest, single_sign_on: SingleSignOn) -> Any:
    """Return the flow this session started with this state; valid once."""
    flows = request.session.get(_FLOWS, {})
    flow = flows.pop(request.GET.get("state", ""), None)
    if flow is None:
        return None
    request.session[_FLOWS] = flows
    is_late = time.time() - flow["at"] > _FLOW_TTL_S
    return None if is_late or flow["mark"] != single_sign_on.mark else flow


def _render_page(
    request: HttpRequest, single_sign_on: SingleSignOn, **more: str
) -> HttpResponse:
    slug = single_sign_on.team.slug
    onward = _next_page(request)
    start = reverse("single_sign_on_go", kwargs={"team_slug": slug})
    agreed = _consent_token(request, single_sign_on)
    return _set_no_cache(
        render(
            request,
            "accounts/single_sign_on.html",
            {
                "team": single_sign_on.team.name,
                "provider": urlsplit(single_sign_on.issuer).netloc,
                "go_url": _add_query(start, next=onward, agreed=agreed, **more),
                "is_confirming": bool(more),
            },
        )
    )


def _consent_token(request: HttpRequest, single_sign_on: SingleSignOn) -> str:
    """Return a token only this session's page knows; empty if signed out."""
    if not request.user.is_authenticated:
        return ""
    held = f"{request.session.session_key}:{single_sign_on.pk}"
    return salted_hmac("accounts.web.sign_in.single_sign_on", held).hexdigest()


def _render_failure(
    request: HttpRequest,
    single_sign_on: SingleSignOn,
    reason: str,
    failed: Exception | None = None,
) -> HttpResponse:
    """Render the page that says why sign-in failed, and log the reason."""
    detail = failed.reason if isinstance(failed, ProviderFailed) else ""
    _log.warning(
        "single sign-on of team %s: %s %s", single_sign_on.team_id, reason, detail
    )
    here = reverse("single_sign_on", kwargs={"team_slug": single_sign_on.team.slug})
    return _set_no_cache(
        render(
            request,
            "accounts/single_sign_on_failed.html",
            {
                "team": single_sign_on.team.name,
                "reason": reason,
                "again_url": here,
                "login_url": _add_query(reverse("account_login"), next=here),
            },
            status=_UNAVAILABLE if reason == "unavailable" else 403,
        )
    )


def _next_page(request: HttpRequest) -> str:
    """Return the page to continue to, if it belongs to Assay."""
    onward = request.GET.get("next", "")
    return onward if url_has_allowed_host_and_scheme(onward, None) else ""


def _return_url(single_sign_on: SingleSignOn) -> str:
    slug = single_sign_on.team.slug
    path = reverse("single_sign_on_back", kwargs={"team_slug": slug})
    return build_absolute_url(path)


def _add_query(path: str, **query: str) -> str:
    fields = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(fields)}" if fields else path


def _refuse_too_many(request: HttpRequest) -> HttpResponse | None:
    limited: HttpResponse | None = ratelimit.consume_or_429(
        request, action="single_sign_on"
    )
    return limited


def _set_no_cache(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    # Neither state nor code goes on to another page.
    response["Referrer-Policy"] = "same-origin"
    return response
