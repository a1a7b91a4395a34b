"""Files as objects of a bucket that speaks S3, reached by every host.

Objects are private, have no address, and pass through this server to whoever may see
them.
"""

from __future__ import annotations

import errno
import io
import logging
import shutil
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from django.core.files.storage import Storage
from django.utils import timezone

from portal.lib.storage.address import parse_storage_url
from portal.lib.storage.answers import FoundFile, StorageAway
from portal.lib.storage.scratch import LEFT_BEHIND, open_scratch_file

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 3
# A request that got no answer is sent once more.
ATTEMPTS = 2
_COPY_BYTES = 1024**2
# In this thread, a part after the other: memory stays bounded, whatever the size.
_TRANSFER = TransferConfig(
    multipart_threshold=64 * 1024**2,
    multipart_chunksize=64 * 1024**2,
    use_threads=False,
)
_ABSENT = {"404", "NoSuchKey"}
# Clients may be shared by threads, the making of one not.
_making = Lock()


class BucketStorage(Storage):
    """A FileStore (portal.lib.storage) in the bucket of a STORAGE_URL."""

    def __init__(self, url: str) -> None:
        self.address = parse_storage_url(url)

    @contextmanager
    def new_file(self, name: str, *, durable: bool = True) -> Iterator[BinaryIO]:
        """See portal.lib.storage; what a bucket keeps is durable."""
        with open_scratch_file() as opened:
            yield opened
            opened.flush()
            self.take_file(Path(opened.name), name)

    @contextmanager
    def local_file(self, name: str) -> Iterator[Path]:
        """See portal.lib.storage: a copy."""
        with open_scratch_file() as copy:
            with self.open(name) as body:
                shutil.copyfileobj(body, copy, _COPY_BYTES)
            copy.flush()
            yield Path(copy.name)

    def take_file(self, path: Path, name: str) -> None:
        """See portal.lib.storage."""
        with _asking():
            self._client.upload_file(str(path), **self._place(name), Config=_TRANSFER)

    def find_files(self, folder: str) -> Iterator[FoundFile]:
        """See portal.lib.storage."""
        for page in self._pages("list_objects_v2", folder):
            for found in page.get("Contents", ()):
                name = found["Key"].removeprefix(self.address.prefix)
                yield FoundFile(name, found["LastModified"])

    def delete(self, name: str) -> None:
        """See portal.lib.storage."""
        with _asking():
            self._client.delete_object(**self._place(name))

    def delete_folder(self, name: str) -> None:
        """See portal.lib.storage."""
        for found in self.find_files(name):
            self.delete(found.name)

    def drop_unfinished(self, folder: str) -> None:
        """See portal.lib.storage: parts of large files, which no listing shows."""
        before = timezone.now() - LEFT_BEHIND
        for page in self._pages("list_multipart_uploads", folder):
            for found in page.get("Uploads", ()):
                if found["Initiated"] < before:
                    with _asking():
                        self._client.abort_multipart_upload(
                            Bucket=self.address.bucket,
                            Key=found["Key"],
                            UploadId=found["UploadId"],
                        )

    def exists(self, name: str) -> bool:
        """Return whether there is such a file. Raises: storage_unavailable (503)."""
        try:
            with _asking():
                self._client.head_object(**self._place(name))
        except FileNotFoundError:
            return False
        return True

    def is_public(self, name: str) -> bool:
        """Whether a stranger may read a file. Raises: storage_unavailable (503)."""
        stranger = self._make_client(signature_version=UNSIGNED)
        with _asking():
            try:
                stranger.get_object(**self._place(name))["Body"].close()
            except ClientError:
                return False
        return True

    def keeps_versions(self) -> bool:
        """Return whether the bucket keeps removed files as old versions."""
        with _asking():
            try:
                reason = self._client.get_bucket_versioning(Bucket=self.address.bucket)
            except ClientError:
                return False
        return bool(reason.get("Status") == "Enabled")

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with _asking():
            body = self._client.get_object(**self._place(name))["Body"]
        return File(io.BufferedReader(_Download(body), _COPY_BYTES))

    def _save(self, name: str, content: File[bytes]) -> str:
        with self.new_file(name) as opened:
            shutil.copyfileobj(content, opened, _COPY_BYTES)
        return name

    def _pages(self, call: str, folder: str) -> Iterator[dict[str, Any]]:
        with _asking():
            yield from self._client.get_paginator(call).paginate(
                Bucket=self.address.bucket,
                Prefix=self.address.prefix + (f"{folder}/" if folder else ""),
            )

    def _place(self, name: str) -> dict[str, str]:
        return {"Bucket": self.address.bucket, "Key": self.address.prefix + name}

    @cached_property
    def _client(self) -> Any:
        return self._make_client(
            signature_version="s3v4",
            # A host that we are told has no names of buckets before its own.
            s3={"addressing_style": "path" if self.address.endpoint else "auto"},
        )

    def _make_client(self, **given: Any) -> Any:
        address = self.address
        config = Config(
            connect_timeout=min(CONNECT_TIMEOUT_S, address.timeout_s),
            read_timeout=address.timeout_s,
            retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            # Servers other than Amazon's may not know the newer sums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            **given,
        )
        with _making:
            return _session().client(
                "s3",
                endpoint_url=address.endpoint,
                region_name=address.region,
                aws_access_key_id=address.key,
                aws_secret_access_key=address.secret,
                config=config,
            )


@cache
def _session() -> boto3.session.Session:
    """What all clients share: it reads some hundred kilobytes of what S3 is."""
    return boto3.session.Session()


class _Download(io.RawIOBase):
    """An object's bytes as they arrive."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _asking():
            read: int = self._body.readinto(buffer)
        return read

    def close(self) -> None:
        self._body.close()
        super().close()


@contextmanager
def _asking() -> Iterator[None]:
    """Make what the library raises our own; its texts hold names of objects."""
    try:
        yield
        return
    except ClientError as error:
        reason = _code(error)
        if reason in _ABSENT:
            raise FileNotFoundError(errno.ENOENT, "no such object") from None
    except Boto3Error as error:  # an upload's, which wraps the server's answer
        cause = error.__context__
        reason = (
            _code(cause) if isinstance(cause, ClientError) else type(error).__name__
        )
    except BotoCoreError as error:
        reason = type(error).__name__
    logger.warning("the bucket did not do as it was asked: %s", reason)
    raise StorageAway from None


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))[:60]
