"""STORAGE_URL, read: `s3://key:secret@host/bucket/prefix?region=eu-central-1`.

`s3` is https; `s3+http` is for a server beside ours, as it sends files in clear.
Without a host it is Amazon's; without key and secret they are found as Amazon's tools
find them, which gives a machine its role.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

SCHEMES = {"s3": "https", "s3+http": "http"}
# Seconds that the server may be silent.
TIMEOUT_S = 10
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_REGION = "us-east-1"
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class AddressInvalid(Exception):
    """STORAGE_URL can't be read; the message says why and repeats nothing of it."""


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """The address of a bucket and the key to access it.

    `endpoint` is None for Amazon's own; `prefix` is empty or ends in `/`.
    """

    bucket: str
    prefix: str
    endpoint: str | None
    region: str
    timeout_s: float
    key: str | None = field(repr=False)
    secret: str | None = field(repr=False)

    def __str__(self) -> str:
        return f"{self.bucket} at {self.endpoint or 'Amazon S3'}"

    @property
    def is_clear(self) -> bool:
        """Whether files cross the network without encryption."""
        return urlsplit(self.endpoint or "").scheme == "http"

    @property
    def is_here(self) -> bool:
        """Whether the server is on this machine."""
        return urlsplit(self.endpoint or "").hostname in LOOPBACK


def parse_storage_url(url: str) -> BucketAddress:
    """Read STORAGE_URL. Raises: AddressInvalid. Source: Ours."""
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        timeout_s = float(options.pop("timeout", TIMEOUT_S))
    except ValueError:
        raise AddressInvalid("it is no address") from None
    if parts.scheme not in SCHEMES:
        raise AddressInvalid(f"it begins with none of {', '.join(SCHEMES)}")
    bucket, _, prefix = unquote(parts.path).strip("/").partition("/")
    if not _NAME.fullmatch(bucket):
        raise AddressInvalid("it names no bucket behind the host")
    if bool(parts.username) != bool(parts.password):
        raise AddressInvalid("it has a key without a secret, or a secret without a key")
    region = options.pop("region", _REGION)
    if options or timeout_s <= 0:
        raise AddressInvalid("it takes region and timeout, and nothing else")
    host = parts.hostname
    if host and ":" in host:
        host = f"[{host}]"
    return BucketAddress(
        bucket=bucket,
        prefix=f"{prefix}/" if prefix else "",
        endpoint=f"{SCHEMES[parts.scheme]}://{host}{f':{port}' if port else ''}"
        if host
        else None,
        region=region,
        timeout_s=timeout_s,
        key=unquote(parts.username) if parts.username else None,
        secret=unquote(parts.password) if parts.password else None,
    )
