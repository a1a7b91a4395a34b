"""Backend services sign in with a signed assertion, by the public keys of an API key.

Source: SMART App Launch 2.2, Backend Services; RFC 7523.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import jwt
import orjson
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ApiKey, UsedAssertion
from accounts.operations.api_keys.access_tokens import create_backend_access_token
from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from portal.lib.actor import Actor

ALGORITHMS = ("RS384", "ES384")
# The standard's: an assertion is good for five minutes at most.
ASSERTION_TTL = timedelta(minutes=5)
_CLOCKS_DIFFER = timedelta(seconds=30)
KEYS_AT_MOST = 10
RSA_BITS_AT_LEAST = 2048
_PRIVATE = frozenset(["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
_JTI_MAX_LENGTH = 255


class AssertionInvalid(DomainError):
    """An assertion is not valid; all reasons look the same to the caller."""


@dataclass(frozen=True, slots=True)
class BackendSignIn:
    """An access token, its lifetime in seconds, and the key that it was made by."""

    token: str
    seconds: int
    key: ApiKey


@transaction.atomic
def change_public_keys(*, key: ApiKey, actor: Actor, text: str) -> ApiKey:
    """Set the public keys by which a backend service signs in with this API key.

    text: a JSON Web Key Set, empty to end it. Raises: key_set_malformed,
    private_key_sent, key_not_supported, too_many_keys, key_id_missing; api_key_ended.
    Source: Ours: keys are given, not fetched, so that nobody can make us call them.
    """
    found = _read_key_set(text)
    key = ApiKey.objects.for_tenant(key.tenant).select_for_update().get(pk=key.pk)
    if key.revoked_at is not None or key.has_expired(timezone.now()):
        raise DomainError("api_key_ended", _("This key has ended."))
    before = [one["kid"] for one in key.public_keys]
    key.public_keys = found
    key.save(update_fields=["public_keys"])
    record_change(
        tenant=key.tenant,
        actor=actor,
        verb="change_public_keys",
        subject="api_key",
        subject_id=key.id,
        changes={"public_keys": [before, [one["kid"] for one in found]]},
    )
    return key


def sign_in_with_assertion(
    *, assertion: str, audience: str, resource_types: frozenset[str] | None
) -> BackendSignIn:
    """Return an access token for a signed assertion, which is taken once.

    audience: the address of the token endpoint. resource_types: those that the token
    may read, None for all that the key may. Raises: AssertionInvalid.
    """
    key = _find_key(assertion)
    claims = _verify(assertion, key, audience)
    digest = hashlib.sha256(claims["jti"].encode()).digest()
    ends_at = datetime.fromtimestamp(claims["exp"], UTC) + _CLOCKS_DIFFER
    try:
        with transaction.atomic():
            UsedAssertion(
                tenant=key.tenant, api_key=key, digest=digest, ends_at=ends_at
            ).save(force_insert=True)
    except IntegrityError:
        raise _invalid() from None
    with acting_for(key.tenant):
        token, lifetime = create_backend_access_token(
            key=key, resource_types=resource_types
        )
    return BackendSignIn(token, int(lifetime.total_seconds()), key)


def delete_used_assertions() -> int:
    """Delete assertions that have expired; return how many. Over all tenants."""
    old = UsedAssertion.unscoped.filter(ends_at__lt=timezone.now())
    return int(old.delete()[0])


def _find_key(assertion: str) -> ApiKey:
    """Return the live API key that an assertion says it comes from."""
    try:
        issuer = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
        key_id = UUID(str(issuer))
    except (jwt.PyJWTError, ValueError):
        raise _invalid() from None
    key: ApiKey | None = (
        ApiKey.unscoped.select_related("tenant__team")
        .filter(pk=key_id, revoked_at=None, tenant__team__deleted_at=None)
        .first()
    )
    if key is None or key.has_expired(timezone.now()) or not key.public_keys:
        raise _invalid()
    return key


def _verify(assertion: str, key: ApiKey, audience: str) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(assertion)
        [document] = [one for one in key.public_keys if one["kid"] == header.get("kid")]
        if header.get("alg") not in ALGORITHMS:
            raise _invalid()
        claims: dict[str, Any] = jwt.decode(
            assertion,
            jwt.PyJWK(document, algorithm=header["alg"]),
            algorithms=[header["alg"]],
            audience=audience,
            issuer=str(key.pk),
            leeway=_CLOCKS_DIFFER,
            options={"require": ["iss", "sub", "aud", "exp", "jti"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError):
        raise _invalid() from None
    latest = (timezone.now() + ASSERTION_TTL + _CLOCKS_DIFFER).timestamp()
    jti = claims["jti"]
    is_named = isinstance(jti, str) and 0 < len(jti) <= _JTI_MAX_LENGTH
    if claims["sub"] != str(key.pk) or claims["exp"] > latest or not is_named:
        raise _invalid()
    return claims


def _invalid() -> AssertionInvalid:
    return AssertionInvalid("invalid_client", "The assertion is not valid.")


def _read_key_set(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    try:
        document = orjson.loads(text)
        keys = document["keys"]
        items = [dict(one) for one in keys]
    except (ValueError, TypeError, KeyError):
        raise DomainError(
            "key_set_malformed",
            _('Enter a JSON Web Key Set, such as {"keys": [...]}.'),
        ) from None
    if len(items) > KEYS_AT_MOST:
        raise DomainError(
            "too_many_keys", _("Enter at most %(n)d keys.") % {"n": KEYS_AT_MOST}
        )
    if any(_PRIVATE & one.keys() for one in items):
        raise DomainError(
            "private_key_sent",
            _("This is a private key. Replace it, and enter the public key alone."),
        )
    names = [one.get("kid") for one in items]
    if not all(isinstance(name, str) and name for name in names) or len(
        set(names)
    ) != len(names):
        raise DomainError("key_id_missing", _("Give each key a kid of its own."))
    for one in items:
        _require_supported(one)
    return items


def _require_supported(document: dict[str, Any]) -> None:
    algorithm = {"RSA": "RS384", "EC": "ES384"}.get(str(document.get("kty")), "")
    try:
        key: Any = jwt.PyJWK(document, algorithm=algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        key = None
    bits = getattr(key, "key_size", 0)
    is_long = bits >= RSA_BITS_AT_LEAST if algorithm == "RS384" else bits == 384
    if not algorithm or not is_long:
        raise DomainError(
            "key_not_supported",
            _("Use RSA keys of 2048 bits or more, or EC keys on P-384."),
        )
