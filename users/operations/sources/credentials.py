"""Credentials of a team at sources: enter, try, rotate and remove them.

A team's own application comes before that of the installation. Tokens are traded by the
application that they were issued to, as long as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError, NotFound
from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)
from portal.lib.web.links import build_absolute_url
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    SourceUnavailable,
)
from users.gateways.sources import (
    find_provider_gateway,
    find_source_gateway,
    list_gateway_providers,
)
from users.models import Connection, SourceCredentials, SourceGrant, SourcePushKey
from users.operations.sources.budgets import CallBudget
from users.states.credentials import CredentialsState
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.applications import CredentialField
    from users.gateways.base import (
        CallLimit,
        PushProtocol,
        SourceGateway,
        SourceTerms,
    )
    from users.operations.sources.budgets import BudgetUse

_SUBJECT = "source_credentials"
# In an address, in place of a team's: the installation's application.
_INSTALLATION = "0"


@dataclass(frozen=True, slots=True)
class SourceSetup:
    """How a source is set up for a team.

    `stored` are the team's credentials; without them, a source that `is_offered` uses
    the installation's. `use` counts the calls of the application that is used.
    `proven_by` is the client of others that our gateway's twin was held to, `terms`
    what the source allows, `conditions` what to know before registering there.
    `push_url` is where the source pushes to, empty for one that has to be asked or is
    not set up; somebody enters it there if it `is_push_by_hand`. `fields` are what it
    asks of an application beside a client ID and secret, `chosen` the team's values of
    those that are no secrets.
    """

    provider: str
    stored: SourceCredentials | None
    is_offered: bool
    limits: tuple[CallLimit, ...]
    use: BudgetUse
    proven_by: str
    terms: SourceTerms | None
    conditions: tuple[str, ...]
    push_url: str
    is_push_by_hand: bool
    fields: tuple[CredentialField, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PushedApplication:
    """The application that a source pushes to.

    `tenant_pk` is None for that of the installation, which teams share.
    """

    gateway: SourceGateway
    protocol: PushProtocol
    tenant_pk: int | None


@dataclass(frozen=True, slots=True)
class StoredPushKeys:
    """The PushKeys of one application at a source; in the caller's transaction."""

    provider: str
    client_id: str

    def read(self) -> str:
        """As of PushKeys; empty also for one that we can no longer decrypt."""
        mine = SourcePushKey.objects.filter(
            provider=self.provider, client_id=self.client_id
        )
        stored = mine.values_list("key", flat=True).first()
        try:
            return decrypt_secret(stored) if stored else ""
        except UnreadableSecret:
            return ""

    def store(self, key: str, *, asked_at: datetime) -> None:
        """As of PushKeys: of two processes the later to ask has the key that counts."""
        mine = SourcePushKey.objects.filter(
            provider=self.provider, client_id=self.client_id
        )
        made = {"key": encrypt_secret(key), "created_at": asked_at}
        _kept, is_new = mine.get_or_create(
            provider=self.provider, client_id=self.client_id, defaults=made
        )
        if not is_new:
            mine.filter(created_at__lt=asked_at).update(**made)


def find_team_source_gateway(
    *, tenant: Tenant, provider: str, issued_to: str = ""
) -> SourceGateway | None:
    """Return the gateway of a source for a team's application, or the installation's.

    With `issued_to` the one of that client ID is preferred. None if the source cannot
    be connected: it has no gateway, or nobody entered credentials. Source: Ours.
    """
    if find_provider_gateway(provider) is None:
        return None
    own = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider)
    return _choose_gateway(provider, own.first(), issued_to)


def list_team_source_gateways(*, tenant: Tenant) -> dict[str, SourceGateway]:
    """Return by slug the gateways of all sources that can be connected; one query."""
    kept = SourceCredentials.objects.for_tenant(tenant)
    own = {each.provider: each for each in kept}
    found = {
        provider: _choose_gateway(provider, own.get(provider))
        for provider in list_gateway_providers()
    }
    return {provider: gateway for provider, gateway in found.items() if gateway}


def list_source_setups(*, tenant: Tenant) -> list[SourceSetup]:
    """Return how each source with a gateway is set up for a team."""
    offered = list_team_source_gateways(tenant=tenant)
    kept = SourceCredentials.objects.for_tenant(tenant)
    own = {each.provider: each for each in kept}
    setups = []
    for provider in list_gateway_providers():
        gateway, stored = offered.get(provider), own.get(provider)
        known = gateway or find_provider_gateway(provider)
        limits, proven_by = (known.limits, known.proven_by) if known else ((), "")
        client_id = gateway.credentials.client_id if gateway else ""
        use = CallBudget(provider, client_id, limits).read_use()
        push_url, is_by_hand = "", False
        if gateway is not None and gateway.pushes is not None:
            is_by_hand = gateway.pushes.is_registered_by_hand
            push_url, _token = build_push_address(
                tenant=tenant, provider=provider, gateway=gateway
            )
        setups.append(
            SourceSetup(
                provider=provider,
                stored=stored,
                is_offered=gateway is not None,
                limits=limits,
                use=use,
                proven_by=proven_by,
                terms=known.terms if known else None,
                conditions=known.conditions if known else (),
                push_url=push_url,
                is_push_by_hand=is_by_hand,
                fields=known.credential_fields if known else (),
                chosen=_read_chosen(gateway),
            )
        )
    return setups


def find_connection_gateway(connection: Connection) -> SourceGateway | None:
    """Return the gateway that can use a connection's tokens; None if there is none."""
    grants = SourceGrant.objects.for_tenant(connection.tenant)
    issued_to = grants.filter(connection=connection).values_list("client_id", flat=True)
    return find_team_source_gateway(
        tenant=connection.tenant,
        provider=connection.provider,
        issued_to=issued_to.first() or "",
    )


def save_source_credentials(
    *,
    tenant: Tenant,
    actor: Actor,
    provider: str,
    client_id: str,
    client_secret: str,
    more: Mapping[str, str] | None = None,
) -> SourceCredentials:
    """Try a team's credentials at a source, and store them unless it rejects them.

    `more` are values of the gateway's CredentialFields. An empty secret keeps the
    stored one of the same client ID. A source that does not answer leaves them stored
    and untried. Asks the source, so never call it inside a transaction. Raises:
    source_unknown (404); client_id_missing; client_secret_missing; credential_missing
    (a required field); credential_invalid (no choice of its field);
    credentials_rejected. Source: Ours: a mistyped secret is found while somebody looks.
    """
    gateway = find_provider_gateway(provider)
    if gateway is None:
        raise NotFound("source_unknown", _("This source has no credentials."))
    client_id, client_secret = client_id.strip(), client_secret.strip()
    if not client_id:
        raise DomainError("client_id_missing", _("Enter the client ID."), "client_id")
    stored = _read(tenant, provider)
    if stored and stored.client_id != client_id:
        stored = None
    client_secret = client_secret or (stored.client_secret if stored else "")
    if not client_secret:
        raise DomainError(
            "client_secret_missing", _("Enter the client secret."), "client_secret"
        )
    asked = gateway.credential_fields
    entered = ClientCredentials(
        client_id, client_secret, _complete(asked, more or {}, stored)
    )
    state = _try(provider, entered)
    if state == CredentialsState.REJECTED:
        rejected = (
            _("%(source)s rejected the credentials. Nothing was saved.")
            if asked
            else _("%(source)s rejected the client ID or secret. Nothing was saved.")
        )
        raise DomainError(
            "credentials_rejected",
            rejected % {"source": find_provider(provider).name},
            "client_secret",
        )
    return _store(tenant, actor, provider, entered, state)


def _complete(
    fields: tuple[CredentialField, ...],
    entered: Mapping[str, str],
    stored: ClientCredentials | None,
) -> dict[str, str]:
    """Return the values of fields; an empty secret keeps the stored one."""
    values = {}
    for each in fields:
        value = entered.get(each.name, "").strip()
        if each.choices and value not in dict(each.choices):
            raise DomainError(
                "credential_invalid", _("Choose one of the options."), each.name
            )
        if not value and not each.choices and stored:
            value = stored.more.get(each.name, "")
        if not value and each.is_required:
            raise DomainError(
                "credential_missing",
                _("Enter: %(field)s.") % {"field": each.label},
                each.name,
            )
        if value:
            values[each.name] = value
    return values


def try_source_credentials(
    *, tenant: Tenant, actor: Actor, provider: str
) -> CredentialsState:
    """Try a team's stored credentials at the source and record what it says.

    Asks the source, so never call it inside a transaction. Raises: credentials_missing
    (404).
    """
    stored = _read(tenant, provider)
    if stored is None:
        raise _missing()
    state = _try(provider, stored)
    record_credentials_state(tenant=tenant, provider=provider, state=state)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="try_source_credentials",
        subject=_SUBJECT,
        subject_id=provider,
    )
    return state


def record_credentials_state(
    *, tenant: Tenant, provider: str, state: CredentialsState, client_id: str = ""
) -> None:
    """Record what a source said of a team's credentials; the only writer of the state.

    With `client_id` only if they are still the stored ones. What was not answered
    changes nothing.
    """
    if state == CredentialsState.UNANSWERED:
        return
    mine = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider)
    if client_id:
        mine = mine.filter(client_id=client_id)
    mine.update(state=state, tried_at=timezone.now())


@transaction.atomic
def remove_source_credentials(*, tenant: Tenant, actor: Actor, provider: str) -> None:
    """Remove a team's credentials; the installation's are used from then on.

    Raises: credentials_missing (404).
    """
    mine = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider)
    removed, _by_model = mine.delete()
    if not removed:
        raise _missing()
    record_change(
        tenant=tenant,
        actor=actor,
        verb="remove_source_credentials",
        subject=_SUBJECT,
        subject_id=provider,
    )


def build_sign_in_redirect_uri(provider: str) -> str:
    """Return the redirect URI to register at a source."""
    return build_absolute_url(reverse("connect:back", args=[provider]))


def build_push_address(
    *, tenant: Tenant, provider: str, gateway: SourceGateway
) -> tuple[str, str]:
    """Return the URL that a source pushes to for an application, and its secret part.

    Source: Ours: it is derived from the key of the installation, so that it needs no
    row, and changes with the key once the old one is dropped.
    """
    own = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider)
    stored = own.filter(client_id=gateway.credentials.client_id).first()
    token = _push_signer(provider).sign(str(stored.pk) if stored else _INSTALLATION)
    path = reverse("source_push", kwargs={"provider": provider, "token": token})
    return build_absolute_url(path), token


def find_pushed_application(*, provider: str, token: str) -> PushedApplication | None:
    """Return the application that an address belongs to; None for an unknown one."""
    try:
        key = _push_signer(provider).unsign(token)
    except signing.BadSignature:
        return None
    own: SourceCredentials | None = None
    if key != _INSTALLATION:
        own = SourceCredentials.unscoped.filter(pk=key, provider=provider).first()
        if own is None:
            return None
    gateway = _choose_gateway(provider, own)
    if gateway is None or gateway.pushes is None:
        return None
    return PushedApplication(gateway, gateway.pushes, own.tenant_id if own else None)


def _push_signer(provider: str) -> signing.Signer:
    return signing.Signer(sep=".", salt=f"users.push.{provider}")


@transaction.atomic
def _store(
    tenant: Tenant,
    actor: Actor,
    provider: str,
    entered: ClientCredentials,
    state: CredentialsState,
) -> SourceCredentials:
    now = timezone.now()
    more = encrypt_secret(orjson.dumps(dict(entered.more)).decode())
    kept = SourceCredentials.objects.for_tenant(tenant)
    before = kept.filter(provider=provider).values_list("client_id", flat=True).first()
    stored: SourceCredentials
    stored, _is_new = kept.update_or_create(
        tenant=tenant,
        provider=provider,
        defaults={
            "client_id": entered.client_id,
            "client_secret": encrypt_secret(entered.client_secret),
            "more": more if entered.more else "",
            "state": state,
            "tried_at": None if state == CredentialsState.UNANSWERED else now,
            "updated_at": now,
        },
    )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="save_source_credentials",
        subject=_SUBJECT,
        subject_id=provider,
        changes={"client_id": [before, entered.client_id]},
    )
    return stored


def _try(provider: str, credentials: ClientCredentials) -> CredentialsState:
    gateway = find_source_gateway(provider, credentials)
    if gateway is None:
        return CredentialsState.REJECTED
    try:
        works = gateway.check_credentials(
            redirect_url=build_sign_in_redirect_uri(provider)
        )
    except SourceUnavailable:
        return CredentialsState.UNANSWERED
    return CredentialsState.WORKING if works else CredentialsState.REJECTED


def _choose_gateway(
    provider: str, own: SourceCredentials | None, issued_to: str = ""
) -> SourceGateway | None:
    gateway = find_provider_gateway(provider)
    if gateway is None:
        return None
    chosen = gateway.credentials
    # Of two that could use the tokens, the team's.
    is_installed = issued_to not in {"", own.client_id if own else ""}
    if own and not (is_installed and issued_to == chosen.client_id):
        try:
            chosen = _decrypted(own)
        except UnreadableSecret:
            # Not the installation's instead: our tokens would count as stolen.
            return None
    meter = CallBudget(provider, chosen.client_id, gateway.limits)
    keys = StoredPushKeys(provider, chosen.client_id)
    return find_source_gateway(provider, chosen, meter, keys)


def _decrypted(stored: SourceCredentials) -> ClientCredentials:
    more: Any = orjson.loads(decrypt_secret(stored.more)) if stored.more else {}
    return ClientCredentials(
        stored.client_id, decrypt_secret(stored.client_secret), more
    )


def _read_chosen(gateway: SourceGateway | None) -> dict[str, str]:
    if gateway is None:
        return {}
    more = gateway.credentials.more
    return {
        each.name: more.get(each.name, "")
        for each in gateway.credential_fields
        if each.choices
    }


def _read(tenant: Tenant, provider: str) -> ClientCredentials | None:
    """Return a team's credentials; None if there are none that we can read."""
    kept = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider)
    stored = kept.first()
    try:
        return _decrypted(stored) if stored else None
    except UnreadableSecret:
        return None


def _missing() -> NotFound:
    return NotFound("credentials_missing", _("No credentials are stored."))
