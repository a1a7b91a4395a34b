"""Signatures by which PostgreSQL believes the tenant that a connection names.

A role that serves may set any setting, so the value alone proves nothing: whoever makes
the server run SQL of theirs could name another tenant. The server's own key, which that
role cannot read, signs it, and `assay_tenant()` checks the signature in each statement.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from portal.lib.secrets import encryption

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

_BLOCK = hashlib.sha256().block_size


@lru_cache(maxsize=10_000)
def _sign(secret: str, value: str) -> str:
    key = _derive(secret)
    signed = hmac.digest(key, value.encode(), "sha256").hex()
    return f"{_name(key)}:{signed}"


def prove_tenant(value: str) -> str:
    """Return what `assay.tenant_proof` takes beside `value` in `assay.tenant`.

    The ID of the key, a colon and HMAC-SHA-256 (RFC 2104) in hex; empty for no tenant,
    and where this server has no key, as only the owner of the tables is then believed.
    """
    try:
        newest, *_ = encryption.list_encryption_keys()
    except ImproperlyConfigured:  # `doctor` says so
        return ""
    return _sign(newest, value) if value else ""


def install_tenant_keys(cursor: CursorWrapper) -> None:
    """Let the database believe the keys of this server, and no others.

    As the role that owns the tables. Former keys that are still listed are among them,
    and SECRET_KEY, which signs until ENCRYPTION_KEYS is set.
    """
    secrets = [*encryption.list_encryption_keys(), settings.SECRET_KEY]
    secrets += settings.SECRET_KEY_FALLBACKS
    keys = [_derive(secret) for secret in dict.fromkeys(secrets)]
    names = [_name(key) for key in keys]
    cursor.execute(
        "INSERT INTO assay_private.tenant_key (id, inner_block, outer_block)"
        " SELECT * FROM unnest(%s::text[], %s::bytea[], %s::bytea[])"
        " ON CONFLICT DO NOTHING",
        [names, [_pad(key, 0x36) for key in keys], [_pad(key, 0x5C) for key in keys]],
    )
    cursor.execute("DELETE FROM assay_private.tenant_key WHERE id <> ALL(%s)", [names])


def _derive(secret: str) -> bytes:
    return hmac.digest(secret.encode(), b"assay.tenant", "sha256")


def _name(key: bytes) -> str:
    return hashlib.sha256(b"assay.fingerprint" + key).hexdigest()[:16]


def _pad(key: bytes, byte: int) -> bytes:
    return bytes(each ^ byte for each in key.ljust(_BLOCK, b"\0"))
