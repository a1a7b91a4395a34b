"""Encryption of secrets in the database, under keys that may be rotated."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class UnreadableSecret(RuntimeError):
    """A stored secret belongs to none of the present keys."""


def encrypt_secret(text: str) -> str:
    """Encrypt a secret with the newest key. Source: Fernet (AES-128-CBC, HMAC)."""
    return _ring(*list_encryption_keys()).encrypt(text.encode()).decode()


def decrypt_secret(token: str) -> str:
    """Decrypt what `encrypt_secret` returned. Raises: UnreadableSecret, no text."""
    try:
        return _ring(*list_encryption_keys()).decrypt(token.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret("no present key opens this secret") from None


def reencrypt_with_newest_key(token: str) -> str:
    """Encrypt a secret again with the newest key, unless it has that already.

    Raises UnreadableSecret, which quotes nothing.
    """
    newest, *_ = list_encryption_keys()
    try:
        _ring(newest).decrypt(token.encode())
    except InvalidToken:
        return encrypt_secret(decrypt_secret(token))
    return token


def list_encryption_key_fingerprints() -> list[str]:
    """Return fingerprints of the current keys, newest first.

    Sixteen hex digits each. Source: Ours: a backup names the keys that it needs.
    """
    return [
        hashlib.sha256(b"assay.fingerprint" + key.encode()).hexdigest()[:16]
        for key in list_encryption_keys()
    ]


def list_encryption_keys() -> list[str]:
    """Return the keys of this server, newest first."""
    return settings.ENCRYPTION_KEYS or [
        settings.SECRET_KEY,
        *settings.SECRET_KEY_FALLBACKS,
    ]


@lru_cache(maxsize=4)
def _ring(*keys: str) -> MultiFernet:
    # Keys are long random texts: a hash makes them the size Fernet wants.
    digests = (hashlib.sha256(b"assay.encryption" + key.encode()) for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(d.digest())) for d in digests])
