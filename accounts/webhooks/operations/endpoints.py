"""Create, change, disable and delete endpoints; their secret and headers."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.webhooks.addresses import AddressRefused, parse_webhook_url
from accounts.webhooks.catalogue import filter_covers_event_type
from accounts.webhooks.models import Delivery, Endpoint
from accounts.webhooks.models.endpoint import DESCRIPTION_MAX_LENGTH, URL_MAX_LENGTH
from accounts.webhooks.signing import (
    SecretInvalid,
    decode_signing_secret,
    generate_signing_secret,
    sign_webhook_message,
)
from accounts.webhooks.states import DELIVERY_MOVES, DeliveryStatus, DisabledBy
from portal.lib.database.transitions import move_status_of_all
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from accounts.models import Tenant
    from portal.lib.actor import Actor

# Contract 8.6: a rotated secret signs beside its successor for this long.
OVERLAP = timedelta(hours=24)
# Ours: bounds that no honest endpoint meets.
ENDPOINTS_MAX = 50
RATE_LIMIT_MAX = 1000  # messages a second
FILTER_TYPES_MAX = 300
HEADERS_MAX = 20
HEADER_VALUE_MAX_LENGTH = 4000
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
# Ours: a header of such a name is taken for a password, and never shown again.
_SENSITIVE = re.compile(
    r"auth|key|token|secret|password|passwd|credential|cookie|session|signature",
    re.IGNORECASE,
)
# Ours: what the sender sets, or what would change who is talked to and how.
_OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
    }
)


@transaction.atomic
def create_endpoint(
    *,
    tenant: Tenant,
    actor: Actor,
    url: str,
    description: str = "",
    rate_limit: int | None = None,
    disabled: bool = False,
    filter_types: Sequence[str] | None = None,
    secret: str | None = None,
) -> Endpoint:
    """Create an endpoint, with a new secret unless one is given.

    Raises: url_refused, url_too_long, description_too_long, rate_limit_invalid,
    filter_type_unknown, too_many_filter_types, secret_invalid, too_many_endpoints.
    Source: Contract 8.7.
    """
    live = Endpoint.objects.for_tenant(tenant).live()
    if live.count() >= ENDPOINTS_MAX:
        raise DomainError(
            "too_many_endpoints",
            _("An environment can have at most %(limit)d endpoints.")
            % {"limit": ENDPOINTS_MAX},
        )
    now = timezone.now()
    endpoint = Endpoint(
        tenant=tenant,
        url=_read_url(url),
        description=_read_description(description),
        rate_limit=_read_rate_limit(rate_limit),
        filter_types=_read_filter_types(filter_types),
        secret=encrypt_secret(_read_secret(secret)),
        disabled_at=now if disabled else None,
        disabled_by=DisabledBy.MEMBER if disabled else "",
        created_at=now,
        updated_at=now,
        secret_made_at=now,
    )
    endpoint.save(force_insert=True)
    _record(endpoint, actor, "create_endpoint", {"url": [None, endpoint.url]})
    return endpoint


@transaction.atomic
def change_endpoint(*, endpoint: Endpoint, actor: Actor, **changes: Any) -> Endpoint:
    """Change any of url, description, rate_limit, filter_types and disabled.

    Disabling holds what waits; enabling begins its health anew and sends nothing that
    was held: that is replayed on demand (contract 8.5). Raises: as create_endpoint, and
    endpoint_deleted.
    """
    readers: dict[str, Callable[[Any], Any]] = {
        "url": _read_url,
        "description": _read_description,
        "rate_limit": _read_rate_limit,
        "filter_types": _read_filter_types,
    }
    endpoint = _lock(endpoint)
    changed: dict[str, list[Any]] = {}
    for name, read in readers.items():
        if name not in changes:
            continue
        old, new = getattr(endpoint, name), read(changes[name])
        if old != new:
            setattr(endpoint, name, new)
            changed[name] = [old, new]
    disabled = changes.get("disabled")
    if disabled is not None and disabled != (endpoint.disabled_at is not None):
        changed["disabled"] = [not disabled, disabled]
        endpoint.disabled_at = timezone.now() if disabled else None
        endpoint.disabled_by = DisabledBy.MEMBER if disabled else ""
        if disabled:
            hold_pending_deliveries(endpoint=endpoint)
        else:
            endpoint.first_failed_at = endpoint.failing_since = None
            endpoint.warned_percent = 0
    if changed:
        endpoint.updated_at = timezone.now()
        endpoint.save()
        _record(endpoint, actor, "change_endpoint", changed)
    return endpoint


@transaction.atomic
def delete_endpoint(*, endpoint: Endpoint, actor: Actor) -> None:
    """Delete an endpoint and cancel its pending deliveries; its log stays.

    Raises: endpoint_deleted. Source: Contract 8.5.
    """
    endpoint = _lock(endpoint)
    endpoint.deleted_at = timezone.now()
    endpoint.save(update_fields=["deleted_at"])
    move_status_of_all(
        Delivery.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint),
        moves=DELIVERY_MOVES,
        to=DeliveryStatus.DROPPED,
        finished_at=endpoint.deleted_at,
        lease=None,
        leased_until=None,
    )
    _record(endpoint, actor, "delete_endpoint", {"url": [endpoint.url, None]})


@transaction.atomic
def rotate_signing_secret(
    *, endpoint: Endpoint, actor: Actor, secret: str | None = None
) -> Endpoint:
    """Rotate an endpoint's secret; the old one signs too for OVERLAP.

    Raises: secret_invalid, endpoint_deleted. Source: Contract 8.6, 8.7.
    """
    new = _read_secret(secret)
    endpoint = _lock(endpoint)
    now = timezone.now()
    endpoint.previous_secret = endpoint.secret
    endpoint.previous_secret_ends_at = now + OVERLAP
    endpoint.secret = encrypt_secret(new)
    endpoint.secret_made_at = endpoint.updated_at = now
    endpoint.save()
    _record(endpoint, actor, "rotate_secret", {})
    return endpoint


@transaction.atomic
def replace_custom_headers(
    *, endpoint: Endpoint, actor: Actor, headers: Mapping[str, str]
) -> Endpoint:
    """Replace the headers that are sent with every message.

    Raises: header_invalid, too_many_headers, endpoint_deleted. Source: Contract 8.7;
    Ours: what the sender sets itself is refused.
    """
    if len(headers) > HEADERS_MAX:
        raise DomainError(
            "too_many_headers",
            _("Enter at most %(limit)d headers.") % {"limit": HEADERS_MAX},
            "headers",
        )
    names = [name.lower() for name in headers]
    for name, value in headers.items():
        sound = (
            _HEADER_NAME.fullmatch(name)
            and _HEADER_VALUE.fullmatch(value)
            and len(value) <= HEADER_VALUE_MAX_LENGTH
            and name.lower() not in _OWN_HEADERS
            and names.count(name.lower()) == 1
        )
        if not sound:
            raise DomainError(
                "header_invalid",
                _(
                    "Header %(name)s is not allowed. Use each name once, visible"
                    " characters and values of at most %(limit)d characters."
                )
                % {"name": name, "limit": HEADER_VALUE_MAX_LENGTH},
                "headers",
            )
    endpoint = _lock(endpoint)
    endpoint.headers = (
        encrypt_secret(orjson.dumps(dict(headers)).decode()) if headers else ""
    )
    endpoint.updated_at = timezone.now()
    endpoint.save(update_fields=["headers", "updated_at"])
    # Names alone: a value may be a password.
    _record(endpoint, actor, "set_headers", {"headers": [None, sorted(headers)]})
    return endpoint


def reveal_signing_secret(*, endpoint: Endpoint, actor: Actor) -> str:
    """Return the signing secret as text, and audit the read. Source: Contract 8.7."""
    _record(endpoint, actor, "reveal_secret", {})
    return decrypt_secret(endpoint.secret)


SIGNING_SECRETS = {
    "present": gettext_lazy("the current secret"),
    "previous": gettext_lazy("the previous secret"),
    "": gettext_lazy("an earlier secret"),
}


def find_secret_matching_signature(
    *, endpoint: Endpoint, message_id: str, timestamp: int, body: str, signature: str
) -> str:
    """Return which secret made a signature, as a key of SIGNING_SECRETS."""
    secrets = {"present": endpoint.secret, "previous": endpoint.previous_secret}
    entries = signature.split()
    for which, secret in secrets.items():
        if not secret:
            continue
        key = decode_signing_secret(decrypt_secret(secret))
        if sign_webhook_message([key], message_id, timestamp, body.encode()) in entries:
            return which
    return ""


def read_custom_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the custom headers of an endpoint."""
    if not endpoint.headers:
        return {}
    headers: dict[str, str] = orjson.loads(decrypt_secret(endpoint.headers))
    return headers


def is_sensitive_header(name: str) -> bool:
    """Return whether a header's value is withheld wherever headers are shown.

    Source: Contract 8.7 (`sensitive`); Ours: by name, as nobody marks them.
    """
    return _SENSITIVE.search(name) is not None


def hold_pending_deliveries(*, endpoint: Endpoint) -> int:
    """Put an endpoint's pending deliveries on hold; return how many."""
    return move_status_of_all(
        Delivery.objects.for_tenant(endpoint.tenant).filter(endpoint=endpoint),
        moves=DELIVERY_MOVES,
        to=DeliveryStatus.HELD,
        lease=None,
        leased_until=None,
    )


def _lock(endpoint: Endpoint) -> Endpoint:
    rows = Endpoint.objects.for_tenant(endpoint.tenant).live()
    locked: Endpoint | None = (
        rows.select_for_update(of=("self",))
        .select_related("tenant__team")
        .filter(pk=endpoint.pk)
        .first()
    )
    if locked is None:
        raise DomainError("endpoint_deleted", _("This endpoint was deleted."))
    return locked


def _record(
    endpoint: Endpoint, actor: Actor, verb: str, changes: dict[str, list[Any]]
) -> None:
    record_change(
        tenant=endpoint.tenant,
        actor=actor,
        verb=verb,
        subject="endpoint",
        subject_id=endpoint.uuid,
        changes=changes,
    )


def _read_url(url: str) -> str:
    url = url.strip()
    if len(url) > URL_MAX_LENGTH:
        raise DomainError(
            "url_too_long",
            _("Enter a URL of at most %(limit)d characters.")
            % {"limit": URL_MAX_LENGTH},
            "url",
        )
    try:
        parse_webhook_url(url)
    except AddressRefused as refused:
        raise DomainError("url_refused", str(refused), "url") from None
    return url


def _read_description(description: str | None) -> str:
    description = (description or "").strip()
    if len(description) > DESCRIPTION_MAX_LENGTH:
        raise DomainError(
            "description_too_long",
            _("Enter a description of at most %(limit)d characters.")
            % {"limit": DESCRIPTION_MAX_LENGTH},
            "description",
        )
    return description


def _read_rate_limit(rate_limit: int | None) -> int | None:
    if rate_limit is not None and not 1 <= rate_limit <= RATE_LIMIT_MAX:
        raise DomainError(
            "rate_limit_invalid",
            _("Enter a rate limit from 1 to %(limit)d events per second.")
            % {"limit": RATE_LIMIT_MAX},
            "rate_limit",
        )
    return rate_limit


def _read_filter_types(filter_types: Sequence[str] | None) -> list[str] | None:
    """Each once, in order; a prefix needs a type that begins with it."""
    if filter_types is None:
        return None
    values = sorted(set(filter_types))
    if len(values) > FILTER_TYPES_MAX:
        raise DomainError(
            "too_many_filter_types",
            _("Choose at most %(limit)d event types.") % {"limit": FILTER_TYPES_MAX},
            "filter_types",
        )
    if not all(filter_covers_event_type(each) for each in values):
        raise DomainError(
            "filter_type_unknown",
            _("Unknown event type. See the event catalog."),
            "filter_types",
        )
    return values


def _read_secret(secret: str | None) -> str:
    if secret is None:
        return generate_signing_secret()
    try:
        decode_signing_secret(secret)
    except SecretInvalid as invalid:
        raise DomainError("secret_invalid", str(invalid), "secret") from None
    return secret
