"""Signatures on documents that leave the installation, for their holders to check."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings


@dataclass(frozen=True, slots=True)
class Signature:
    """An Ed25519 signature with the key that proves it, both in hexadecimal."""

    public_key: str
    signature: str


def sign_with_installation_key(document: bytes) -> Signature:
    """Sign with the newest key of the installation. Source: Ed25519 (RFC 8032)."""
    key = _private_keys()[0]
    return Signature(_public(key), key.sign(document).hex())


def is_valid_signature(document: bytes, signature: Signature) -> bool:
    """Return whether the signature's key signed these bytes.

    Whose key it is, `is_signed_with_installation_key` says.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        key.verify(bytes.fromhex(signature.signature), document)
    except (ValueError, InvalidSignature):
        return False
    return True


def is_signed_with_installation_key(signature: Signature) -> bool:
    """Return whether the key is one of the installation's present or fallback keys."""
    return signature.public_key in map(_public, _private_keys())


def _private_keys() -> list[Ed25519PrivateKey]:
    texts = settings.ENCRYPTION_KEYS or [
        settings.SECRET_KEY,
        *settings.SECRET_KEY_FALLBACKS,
    ]
    seeds = (hashlib.sha256(b"assay.signatures" + each.encode()) for each in texts)
    return [Ed25519PrivateKey.from_private_bytes(seed.digest()) for seed in seeds]


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
