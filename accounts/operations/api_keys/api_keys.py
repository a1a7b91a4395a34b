"""Create, find, rotate and revoke API keys. Their text is shown once, never stored."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ApiKey
from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.operations.api_keys.call_limits import clear_rate_limit_cache
from accounts.operations.audit.entries import record_change
from accounts.queries.tenants import known_tenants
from accounts.states import SCOPES, Environment, scopes_allow_access
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from accounts.states import Area

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# How long a rotated key may go on beside the key that takes its place.
OVERLAPS = (timedelta(0), timedelta(hours=24), timedelta(hours=72), timedelta(days=7))
# How far behind `last_used_at` may lag, so that a busy key is not a hot row.
LAST_USED_STEP = timedelta(minutes=1)
# More networks than this are a firewall's.
NETWORKS_MAX = 50
CALLS_PER_MINUTE_MAX = 1_000_000
_LETTERS = {Environment.SANDBOX: "sk", Environment.PRODUCTION: "pk"}


@dataclass(frozen=True, slots=True)
class KeyRules:
    """The limits of a key; by default there are none.

    `scopes` are of accounts.states.SCOPES, None: all of them. `networks` are addresses
    or networks in CIDR form it may be used from, empty: any. `calls_per_minute` None:
    as the installation says. It ends at `expires_at`, None: never.
    """

    scopes: frozenset[str] | None = None
    networks: tuple[str, ...] = ()
    calls_per_minute: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """The access of a valid key: its tenant, and the actor of its calls.

    `expires_at` is when the key ends, None for a key with no end; `user_uuid` is the
    one user whom a sign-in token is of; `fhir_types` are the FHIR resource types of a
    backend service's token (`*`: all), which opens nothing else; the rest is as in
    KeyRules.
    """

    tenant: Tenant
    actor: Actor
    key_id: UUID
    scopes: frozenset[str] | None = None
    networks: tuple[Network, ...] = ()
    calls_per_minute: int | None = None
    expires_at: datetime | None = None
    user_uuid: UUID | None = None
    fhir_types: frozenset[str] | None = None

    def at(self, address: str | None) -> KeyGrant:
        """Return the same grant for a call from this IP address."""
        return replace(self, actor=replace(self.actor, address=address))

    def allows(self, area: Area, *, write: bool) -> bool:
        """Return whether the key may read, or `write`, in this area."""
        return scopes_allow_access(self.scopes, area=area, write=write)

    def admits(self, address: str | None) -> bool:
        """Return whether the key may be used from this IP address."""
        return not self.networks or is_ip_address_in_networks(address, self.networks)


# Keys this process found lately: the key text to when it ends (monotonic), the grant.
known_grants: dict[str, tuple[float, KeyGrant]] = {}


def clear_api_key_cache() -> None:
    """Clear this process's key cache, after a change to keys or settings."""
    known_grants.clear()
    known_tenants.clear()
    clear_rate_limit_cache()


def hash_api_key(key: str) -> bytes:
    """Return a key's SHA-256. Keys hold 256 random bits: no salt is needed."""
    return hashlib.sha256(key.encode()).digest()


def is_ip_address_in_networks(address: str | None, networks: Iterable[Network]) -> bool:
    """Return whether an IP address is in a network; False for invalid ones.

    An IPv4 address that came over an IPv6 socket counts as what it is.
    """
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in networks)


@transaction.atomic
def create_api_key(
    *, tenant: Tenant, actor: Actor, label: str, rules: KeyRules = KeyRules()
) -> tuple[ApiKey, str]:
    """Create a key of this tenant; return it with its text, known only now.

    Raises: label_missing, label_too_long, scopes_missing, scope_unknown,
    network_malformed, too_many_networks, calls_per_minute_out_of_range, expiry_past.
    Source: Contract 1.2 (key shape); Ours: the rules.
    """
    label, rules = _validate_rules(label, rules)
    key, text = _make_key(tenant=tenant, actor=actor, label=label, rules=rules)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_api_key",
        subject="api_key",
        subject_id=key.id,
        changes={
            "label": [None, label],
            **{
                name: [None, value]
                for name, value in _rules_as_json(rules).items()
                if value not in (None, [])
            },
        },
    )
    return key, text


@transaction.atomic
def change_api_key(*, key: ApiKey, actor: Actor, label: str, rules: KeyRules) -> ApiKey:
    """Change a key's name or rules, from the next call on.

    Other processes may take it by the old rules for up to the cache's 5 seconds more.
    Raises: as create_api_key; api_key_ended for one that was revoked, rotated or has
    expired. Source: Ours (specification silent): a key that is in use can be limited
    without changing servers.
    """
    key = _lock_active_key(key)
    label, rules = _validate_rules(label, rules, kept_end=key.expires_at)
    before = {"label": key.label, **_rules_as_json(get_api_key_rules(key))}
    after = {"label": label, **_rules_as_json(rules)}
    changes = {
        name: [before[name], after[name]]
        for name in after
        if before[name] != after[name]
    }
    if not changes:
        return key
    key.label = label
    _set_rules(rules, key)
    key.save(
        update_fields=["label", "scopes", "networks", "calls_per_minute", "expires_at"]
    )
    record_change(
        tenant=key.tenant,
        actor=actor,
        verb="change_api_key",
        subject="api_key",
        subject_id=key.id,
        changes=changes,
    )
    transaction.on_commit(clear_api_key_cache)
    return key


@transaction.atomic
def rotate_api_key(
    *, key: ApiKey, actor: Actor, overlap: timedelta
) -> tuple[ApiKey, str]:
    """Create a key that replaces this one, which ends after the overlap.

    Gives the new key, of the same label and rules, with its text, the only time it is
    known; a key that was made for some time gives one for as long a time. A key is
    rotated once: after that its successor is. Raises: overlap_unknown, api_key_ended.
    Source: Ours (specification silent): servers change keys one by one.
    """
    if overlap not in OVERLAPS:
        raise DomainError(
            "overlap_unknown", _("Select one of the offered times."), "overlap"
        )
    key = _lock_active_key(key)
    now = timezone.now()
    rules = replace(
        get_api_key_rules(key), expires_at=compute_rotated_key_expiry(key, now)
    )
    before = key.expires_at
    key.expires_at = min(now + overlap, before or now + overlap)
    key.save(update_fields=["expires_at"])
    new, text = _make_key(
        tenant=key.tenant, actor=actor, label=key.label, rules=rules, replaces=key
    )
    record_change(
        tenant=key.tenant,
        actor=actor,
        verb="rotate_api_key",
        subject="api_key",
        subject_id=key.id,
        changes={
            "expires_at": [_format_moment(before), key.expires_at.isoformat()],
            "replaced_by": [None, str(new.id)],
        },
    )
    transaction.on_commit(clear_api_key_cache)
    return new, text


def compute_rotated_key_expiry(key: ApiKey, now: datetime) -> datetime | None:
    """Return when a replacement created now would expire, None for never."""
    if key.expires_at is None:
        return None
    return now + (key.expires_at - key.created_at)


@transaction.atomic
def revoke_api_key(*, key: ApiKey, actor: Actor) -> ApiKey:
    """Revoke a key; other processes may accept it for up to 5 seconds more.

    Raises: api_key_revoked.
    """
    now = timezone.now()
    rows = ApiKey.objects.for_tenant(key.tenant).filter(pk=key.pk, revoked_at=None)
    if not rows.update(revoked_at=now):
        raise DomainError("api_key_revoked", _("This key is already revoked."))
    key.revoked_at = now
    record_change(
        tenant=key.tenant,
        actor=actor,
        verb="revoke_api_key",
        subject="api_key",
        subject_id=key.id,
    )
    transaction.on_commit(clear_api_key_cache)
    return key


def get_api_key_rules(key: ApiKey) -> KeyRules:
    """Return the current rules of a key."""
    return KeyRules(
        scopes=None if key.scopes is None else frozenset(key.scopes),
        networks=tuple(key.networks),
        calls_per_minute=key.calls_per_minute,
        expires_at=key.expires_at,
    )


def build_api_key_grant(key: ApiKey) -> KeyGrant:
    """Build a key's grant, its tenant loaded, even if the key has ended."""
    return KeyGrant(
        tenant=key.tenant,
        actor=Actor(ActorKind.API_KEY, str(key.id), key.label),
        key_id=key.id,
        scopes=None if key.scopes is None else frozenset(key.scopes),
        networks=tuple(ipaddress.ip_network(each) for each in key.networks),
        calls_per_minute=key.calls_per_minute,
        expires_at=key.expires_at,
    )


def find_api_key_grant(text: str, *, address: str | None = None) -> KeyGrant | None:
    """Return a live key's grant and record its use; None for any other text.

    Use is not noted where the key may not be used from. The look-up is by digest: its
    time tells nothing of a key's text.
    """
    key = (
        ApiKey.unscoped.select_related("tenant__team")
        .filter(
            digest=hash_api_key(text), revoked_at=None, tenant__team__deleted_at=None
        )
        .first()
    )
    now = timezone.now()
    if key is None or key.has_expired(now):
        return None
    grant = build_api_key_grant(key)
    stale = now - LAST_USED_STEP
    if (key.last_used_at is None or key.last_used_at <= stale) and grant.admits(
        address
    ):
        # Processes find it stale together; one of them writes.
        ApiKey.unscoped.filter(
            Q(last_used_at=None) | Q(last_used_at__lte=stale), pk=key.pk
        ).update(last_used_at=now, last_used_address=address)
    return grant


def _lock_active_key(key: ApiKey) -> ApiKey:
    """Return the key, locked, if it neither ended nor was rotated."""
    keys = ApiKey.objects.for_tenant(key.tenant)
    found: ApiKey = (
        keys.select_for_update(of=("self",))
        .select_related("tenant__team")
        .get(pk=key.pk)
    )
    ended = found.revoked_at is not None or found.has_expired(timezone.now())
    if ended or keys.filter(replaces=found).exists():
        raise DomainError("api_key_ended", _("This key was rotated or has expired."))
    return found


def _validate_rules(
    label: str, rules: KeyRules, *, kept_end: datetime | None = None
) -> tuple[str, KeyRules]:
    """Return the label and rules as stored, or refuse invalid ones."""
    label = label.strip()
    if not label:
        raise DomainError("label_missing", _("Enter a name for the key."), "label")
    if len(label) > LABEL_MAX_LENGTH:
        raise DomainError(
            "label_too_long",
            _("Enter at most %(most)d characters.") % {"most": LABEL_MAX_LENGTH},
            "label",
        )
    if rules.scopes is not None and not rules.scopes:
        raise DomainError("scopes_missing", _("Select at least one scope."), "scopes")
    if rules.scopes is not None and not rules.scopes <= SCOPES.keys():
        raise DomainError("scope_unknown", _("Select only listed scopes."), "scopes")
    if len(rules.networks) > NETWORKS_MAX:
        raise DomainError(
            "too_many_networks",
            _("Enter at most %(most)d networks.") % {"most": NETWORKS_MAX},
            "networks",
        )
    limit = rules.calls_per_minute
    if limit is not None and not 1 <= limit <= CALLS_PER_MINUTE_MAX:
        raise DomainError(
            "calls_per_minute_out_of_range",
            _("Enter a whole number from 1 to %(most)s calls per minute.")
            % {"most": format_number(CALLS_PER_MINUTE_MAX)},
            "calls_per_minute",
        )
    ends = rules.expires_at
    if ends is not None and ends != kept_end and ends <= timezone.now():
        raise DomainError("expiry_past", _("Enter a time in the future."), "expires_at")
    networks = dict.fromkeys(_parse_network(each) for each in rules.networks)
    return label, replace(rules, networks=tuple(networks))


def _parse_network(text: str) -> str:
    """Return a network in CIDR form; an address is a network of one."""
    # A zone means something on one machine only.
    text = "" if "%" in text else text.strip()
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        raise DomainError(
            "network_malformed",
            _("Enter IP addresses or networks such as 192.0.2.0/24 or 2001:db8::/32."),
            "networks",
        ) from None


def _rules_as_json(rules: KeyRules) -> dict[str, object]:
    return {
        "scopes": None if rules.scopes is None else _sort_scopes(rules.scopes),
        "networks": list(rules.networks),
        "calls_per_minute": rules.calls_per_minute,
        "expires_at": _format_moment(rules.expires_at),
    }


def _sort_scopes(scopes: Iterable[str]) -> list[str]:
    return sorted(scopes, key=list(SCOPES).index)


def _format_moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _set_rules(rules: KeyRules, key: ApiKey) -> None:
    key.scopes = None if rules.scopes is None else _sort_scopes(rules.scopes)
    key.networks = list(rules.networks)
    key.calls_per_minute = rules.calls_per_minute
    key.expires_at = rules.expires_at


def _make_key(
    *,
    tenant: Tenant,
    actor: Actor,
    label: str,
    rules: KeyRules,
    replaces: ApiKey | None = None,
) -> tuple[ApiKey, str]:
    letters = _LETTERS[Environment(tenant.environment)]
    secret = secrets.token_urlsafe(32)
    text = f"{letters}_{tenant.team.region}_{secret}"
    key = ApiKey(
        tenant=tenant,
        label=label,
        prefix=text[: len(text) - len(secret) + 4],
        last_four=text[-4:],
        digest=hash_api_key(text),
        created_by_id=actor.key if actor.kind == ActorKind.MEMBER else None,
        replaces=replaces,
    )
    _set_rules(rules, key)
    key.save(force_insert=True)
    return key, text
