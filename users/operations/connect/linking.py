"""Connecting sources through a link: sign-in, demo data or file upload."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, NotFound
from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)
from portal.lib.translation import gettext_lazy
from users.gateways.base import SourceRefused, SourceUnavailable
from users.operations.demo_sources import DEMO_SOURCES, connect_demo_source
from users.operations.imports.runs import DEFAULT_PROVIDER
from users.operations.imports.submission import ImportRequest, start_health_data_import
from users.operations.sources.cloud_sources import connect_cloud_source
from users.operations.sources.credentials import (
    build_sign_in_redirect_uri,
    find_team_source_gateway,
    list_team_source_gateways,
)
from users.operations.sources.sources import disconnect_source
from users.queries import list_live_user_connections
from users.states import ConnectionStatus
from users.states.links import Kind, Way
from users.wearables.providers import PROVIDERS, find_provider

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.base import SourceGateway
    from users.models import Connection, ImportJob, LinkSession
    from users.wearables.providers import Provider

# How long somebody may take to sign in at a source.
SIGN_IN_TTL = timedelta(minutes=30)
_STATE_MAX_LENGTH = 2000
# 43 characters, as RFC 7636, 4.1 recommends.
_VERIFIER_BYTES = 32


# By the source types a provider tags (contract 3.3); the first one that is known.
_KINDS = {
    "ring": Kind.WORN,
    "watch": Kind.WORN,
    "chest_strap": Kind.WORN,
    "automatic": Kind.GLUCOSE,
    "manual_scan": Kind.GLUCOSE,
    "fingerprick": Kind.GLUCOSE,
    "insulin_pump": Kind.GLUCOSE,
    "scale": Kind.BODY,
    "cuff": Kind.BODY,
    "exercise_machine": Kind.TRAINING,
    "phone": Kind.PHONE,
    "app": Kind.PHONE,
}


# What files are taken of: its name and description for the people who have it.
_FILES = {
    "apple_health_kit": (
        "Apple Health",
        gettext_lazy("Export from iPhone and Apple Watch"),
    ),
    DEFAULT_PROVIDER: (
        gettext_lazy("Health files"),
        gettext_lazy("FIT activity from a watch or bike computer, or samples as CSV"),
    ),
}


@dataclass(frozen=True, slots=True)
class OfferedSource:
    """A source on the connect page; `ways` is empty if it cannot be connected again.

    `connection` is the user's live one, if there is one.
    """

    provider: Provider
    ways: tuple[Way, ...]
    connection: Connection | None

    @property
    def name(self) -> str:
        """Return the display name."""
        return self._words[0]

    @property
    def description(self) -> str:
        """Return the description, or what can be uploaded."""
        return self._words[1]

    @property
    def kind(self) -> Kind:
        """Return the section of the page that lists it."""
        if self.provider.slug == DEFAULT_PROVIDER:
            return Kind.FILES
        found = (_KINDS.get(each) for each in self.provider.source_types)
        return next((kind for kind in found if kind), Kind.PHONE)

    @property
    def _words(self) -> tuple[str, str]:
        own = self.provider.name, self.provider.description
        return _FILES.get(self.provider.slug, own)

    @property
    def is_connected(self) -> bool:
        """Return whether it is connected."""
        live = self.connection
        return live is not None and live.status == ConnectionStatus.CONNECTED

    @property
    def needs_reconnection(self) -> bool:
        """Return whether the user has to sign in again."""
        live = self.connection
        return live is not None and live.status == ConnectionStatus.ERROR


@dataclass(frozen=True, slots=True)
class SignIn:
    """The session and source that the state of a sign-in names.

    `verifier` is the secret of PKCE, which never reaches the browser in the clear.
    """

    session_id: UUID
    provider: str
    verifier: str = field(repr=False)
    until: datetime


def list_connect_page_sources(session: LinkSession) -> list[OfferedSource]:
    """List the sources of a link's page by name: connected and available ones.

    Source: Contract 3.6; Ours: what this installation can't connect is not shown.
    """
    live = {
        each.provider: each for each in list_live_user_connections(user=session.user)
    }
    shown = set(session.filter_on_providers) or {*PROVIDERS, *live}
    if session.provider:
        shown = {session.provider}
    gateways = list_team_source_gateways(tenant=session.tenant)
    offered = [
        OfferedSource(
            provider=find_provider(slug),
            ways=_ways(session, slug, live, can_sign_in=slug in gateways),
            connection=live.get(slug),
        )
        for slug in shown
    ]
    worth = [each for each in offered if each.ways or each.connection]
    return sorted(worth, key=lambda each: each.name.lower())


def is_source_offered(*, tenant: Tenant, provider: str) -> bool:
    """Return whether a source can be connected here at all, by any user in any way.

    Source: Contract 3.6; Ours: no link leads to a page that offers nothing.
    """
    return (
        provider in _FILES
        or (tenant.is_sandbox and provider in DEMO_SOURCES)
        or find_team_source_gateway(tenant=tenant, provider=provider) is not None
    )


def find_connectable_source(
    session: LinkSession, provider: str, way: Way
) -> OfferedSource:
    """Return the source of this slug, if it can be connected this way.

    Raises: source_not_offered (404).
    """
    for each in list_connect_page_sources(session):
        if each.provider.slug == provider and way in each.ways:
            return each
    raise NotFound("source_not_offered", _("This source is not available here."))


def disconnect_source_from_portal(
    *, session: LinkSession, actor: Actor, provider: str
) -> Connection:
    """Disconnect a source for the holder of a portal link; its data is kept.

    Raises: source_not_offered (404), of a link that opens no portal;
    source_not_connected (404).
    """
    if not session.opens_portal:
        raise NotFound("source_not_offered", _("This source is not available here."))
    return disconnect_source(user=session.user, actor=actor, provider=provider)


def start_source_sign_in(*, session: LinkSession, provider: str) -> str:
    """Return the URL of a source's sign-in page.

    Raises: source_not_offered (404). Source: RFC 6749 4.1, RFC 7636; Ours: the state is
    encrypted, so that it needs no row and tells the source nothing.
    """
    find_connectable_source(session, provider, Way.SIGN_IN)
    verifier = secrets.token_urlsafe(_VERIFIER_BYTES)
    state = encrypt_secret(
        json.dumps(
            {
                "session": session.uuid.hex,
                "provider": provider,
                "verifier": verifier,
                "until": (timezone.now() + SIGN_IN_TTL).timestamp(),
            }
        )
    )
    return _gateway_of(session, provider).authorise_url(
        state=state,
        redirect_url=build_sign_in_redirect_uri(provider),
        challenge=_challenge_of(verifier),
    )


def parse_source_sign_in_state(state: str) -> SignIn:
    """Parse the state of a sign-in, even expired. Raises: sign_in_unknown (404)."""
    try:
        if len(state) > _STATE_MAX_LENGTH:
            raise _unknown_sign_in()
        payload = json.loads(decrypt_secret(state))
        return SignIn(
            session_id=UUID(payload["session"]),
            provider=payload["provider"],
            verifier=payload["verifier"],
            until=datetime.fromtimestamp(payload["until"], UTC),
        )
    except (UnreadableSecret, ValueError, KeyError, TypeError):
        raise _unknown_sign_in() from None


def finish_source_sign_in(
    *, session: LinkSession, actor: Actor, sign_in: SignIn, code: str
) -> Connection:
    """Connect the source of a completed sign-in with its code.

    Asks the source, so never call it inside a transaction. Raises: source_not_offered,
    not_found, sign_in_unknown (of another link; 404), sign_in_expired,
    source_unavailable, source_refused, required_scopes_not_granted.
    """
    if sign_in.session_id != session.uuid:
        raise _unknown_sign_in()
    if timezone.now() >= sign_in.until:
        raise DomainError("sign_in_expired", _("The sign-in expired. Try again."))
    find_connectable_source(session, sign_in.provider, Way.SIGN_IN)
    try:
        grant = _gateway_of(session, sign_in.provider).connect(
            code=code,
            redirect_url=build_sign_in_redirect_uri(sign_in.provider),
            verifier=sign_in.verifier,
        )
    except SourceUnavailable:
        raise DomainError(
            "source_unavailable", _("The source is not available right now.")
        ) from None
    except SourceRefused:
        raise DomainError(
            "source_refused", _("The source rejected the sign-in.")
        ) from None
    return connect_cloud_source(
        user=session.user, actor=actor, provider=sign_in.provider, grant=grant
    )


def import_file_from_connect_link(
    *, session: LinkSession, actor: Actor, provider: str, file: UploadedFile[bytes]
) -> ImportJob:
    """Store an uploaded file of the holder and start its import, without a plan.

    A plan is for members, who could have chosen a wrong file or user: here the holder
    sends their own data, and a link that ended would leave a plan that nobody confirms.
    What was stored and skipped is shown afterwards, to the holder and to the team.
    Raises: source_not_offered (404), and what start_health_data_import does.
    Source: Ours.
    """
    find_connectable_source(session, provider, Way.FILE)
    request = ImportRequest(
        file_name=file.name or "", chunks=file.chunks(), provider=provider
    )
    return start_health_data_import(user=session.user, actor=actor, request=request)


def connect_demo_source_from_link(
    *, session: LinkSession, actor: Actor, provider: str
) -> Connection:
    """Connect a demo source, in the sandbox.

    Raises: source_not_offered (404), and what connect_demo_source does.
    """
    find_connectable_source(session, provider, Way.DEMO)
    return connect_demo_source(user=session.user, actor=actor, provider=provider)


def _ways(
    session: LinkSession, slug: str, live: dict[str, Connection], *, can_sign_in: bool
) -> tuple[Way, ...]:
    connection = live.get(slug)
    works = connection is not None and connection.status != ConnectionStatus.ERROR
    ways = []
    if can_sign_in and not works:
        ways.append(Way.SIGN_IN)
    if slug in _FILES:
        ways.append(Way.FILE)
    is_demo = session.tenant.is_sandbox and all(each.is_demo for each in live.values())
    if is_demo and slug in DEMO_SOURCES and connection is None:
        ways.append(Way.DEMO)
    return tuple(ways)


def _gateway_of(session: LinkSession, provider: str) -> SourceGateway:
    gateway = find_team_source_gateway(tenant=session.tenant, provider=provider)
    if gateway is None:
        raise NotFound("source_not_offered", _("This source is not available here."))
    return gateway


def _challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _unknown_sign_in() -> NotFound:
    return NotFound("sign_in_unknown", _("Open your link again."))
