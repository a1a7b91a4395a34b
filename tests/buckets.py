"""A server of one bucket in memory, which speaks as much S3 as we use.

It checks each request's signature (version 4) and the digest of its body. A test may
make it silent, failing, public or versioned.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest
from django.conf import settings
from django.test import override_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET, REGION = "assay-files", "eu-central-1"
KEY, SECRET = "AKIATEST", "sec/ret+test"
# As few on a page as a listing of a test may need several.
_PAGE = 3
_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<scope>[^,]+),"
    r" SignedHeaders=(?P<signed>[^,]+), Signature=(?P<signature>\w+)"
)


class BucketServer(ThreadingHTTPServer):
    """One bucket: `objects` are content and moment by key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.uploads: dict[str, tuple[str, dict[int, bytes], datetime]] = {}
        self.is_public = self.keeps_versions = False
        self.failing: str | None = None
        # While it is clear nobody is answered.
        self.answers = Event()
        self.answers.set()

    @property
    def url(self) -> str:
        """The STORAGE_URL of it, with a prefix."""
        secret = SECRET.replace("/", "%2F").replace("+", "%2B")
        place = f"127.0.0.1:{self.server_port}/{BUCKET}/assay"
        return f"s3+http://{KEY}:{secret}@{place}?region={REGION}&timeout=5"

    @property
    def names(self) -> list[str]:
        """What is kept, without the prefix."""
        return sorted(key.removeprefix("assay/") for key in self.objects)

    def content(self, name: str) -> bytes:
        """What is kept under a name."""
        return self.objects[f"assay/{name}"][0]

    def make_old(self, name: str, moment: datetime) -> None:
        """Let something have been kept earlier."""
        self.objects[f"assay/{name}"] = (self.content(name), moment)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BucketServer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self, status: int, body: str | bytes = b"", **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code></Error>")

    def _take(self) -> None:
        parts = urlsplit(self.path)
        query = {
            name: values[0]
            for name, values in parse_qs(parts.query, keep_blank_values=True).items()
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.answers.wait()
        bucket, _, key = unquote(parts.path).removeprefix("/").partition("/")
        if self.server.failing:
            self._refuse(400, self.server.failing)  # which nobody asks twice
        elif not self._is_allowed(body):
            self._refuse(403, "AccessDenied")
        elif bucket != BUCKET:
            self._refuse(404, "NoSuchBucket")
        else:
            name = f"_{self.command.lower()}_{'object' if key else 'bucket'}"
            getattr(self, name)(key, query, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _take  # noqa: N815 - its names

    def _is_allowed(self, body: bytes) -> bool:
        # Half a second of processor time, which most runs of tests can do without.
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        given = _SIGNATURE.fullmatch(self.headers.get("Authorization", ""))
        if given is None:
            return self.server.is_public and self.command == "GET"
        digest = self.headers["X-Amz-Content-SHA256"]
        if digest != hashlib.sha256(body).hexdigest():
            return False
        request = AWSRequest(
            self.command,
            f"http://{self.headers['Host']}{self.path}",
            {name: self.headers[name] for name in given["signed"].split(";")},
        )
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        signer = S3SigV4Auth(Credentials(KEY, SECRET), "s3", REGION)
        wanted = signer.signature(
            signer.string_to_sign(request, signer.canonical_request(request)), request
        )
        return (given["key"], given["signature"]) == (KEY, wanted)

    def _put_object(self, key: str, query: dict[str, str], body: bytes) -> None:
        if upload := query.get("uploadId"):
            self.server.uploads[upload][1][int(query["partNumber"])] = body
        else:
            self.server.objects[key] = (body, datetime.now(UTC))
        self._answer(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')  # noqa: S324 - as S3

    def _post_object(self, key: str, query: dict[str, str], body: bytes) -> None:
        now = datetime.now(UTC)
        if "uploads" in query:
            upload = f"upload-{len(self.server.uploads)}"
            self.server.uploads[upload] = (key, {}, now)
            text = f"<UploadId>{upload}</UploadId>"
            self._answer(200, _xml("InitiateMultipartUploadResult", text))
            return
        _, parts, _ = self.server.uploads.pop(query["uploadId"])
        self.server.objects[key] = (b"".join(parts[n] for n in sorted(parts)), now)
        self._answer(200, _xml("CompleteMultipartUploadResult", "<ETag>x</ETag>"))

    def _get_object(self, key: str, query: dict[str, str], body: bytes) -> None:
        if key not in self.server.objects:
            self._refuse(404, "NoSuchKey")
            return
        content, moment = self.server.objects[key]
        self._answer(200, content, Last_Modified=f"{moment:%a, %d %b %Y %H:%M:%S} GMT")

    _head_object = _get_object

    def _delete_object(self, key: str, query: dict[str, str], body: bytes) -> None:
        self.server.uploads.pop(query.get("uploadId", ""), None)
        self.server.objects.pop(key, None)
        self._answer(204)

    def _get_bucket(self, key: str, query: dict[str, str], body: bytes) -> None:
        if "versioning" in query:
            rows = "<Status>Enabled</Status>" if self.server.keeps_versions else ""
            self._answer(200, _xml("VersioningConfiguration", rows))
        elif "uploads" in query:
            rows = "".join(
                f"<Upload><Key>{escape(name)}</Key><UploadId>{upload}</UploadId>"
                f"<Initiated>{moment:%Y-%m-%dT%H:%M:%S.000Z}</Initiated></Upload>"
                for upload, (name, _, moment) in self.server.uploads.items()
                if name.startswith(query["prefix"])
            )
            self._answer(200, _xml("ListMultipartUploadsResult", rows))
        else:
            after = query.get("continuation-token", "")
            found = sorted(
                name
                for name in self.server.objects
                if name.startswith(query["prefix"]) and name > after
            )
            rows = "".join(
                f"<Contents><Key>{escape(name)}</Key><LastModified>"
                f"{self.server.objects[name][1]:%Y-%m-%dT%H:%M:%S.000Z}"
                "</LastModified></Contents>"
                for name in found[:_PAGE]
            )
            if found[_PAGE:]:
                rows += "<IsTruncated>true</IsTruncated>"
                rows += f"<NextContinuationToken>{found[_PAGE - 1]}"
                rows += "</NextContinuationToken>"
            self._answer(200, _xml("ListBucketResult", rows))


def _xml(name: str, inner: str) -> str:
    return f'<{name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{inner}</{name}>'


@contextmanager
def keeping_at(url: str) -> Iterator[None]:
    """Keep files where a STORAGE_URL says."""
    store = {
        "BACKEND": "portal.lib.storage.bucket.BucketStorage",
        "OPTIONS": {"url": url},
    }
    with override_settings(
        STORAGE_URL=url, STORAGES={**settings.STORAGES, "default": store}
    ):
        yield


@pytest.fixture
def bucket_server() -> Iterator[BucketServer]:
    """The server, which nothing is kept in by itself."""
    with BucketServer() as server:
        # Asked often, so that its end is not waited for.
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.answers.set()
            server.shutdown()


@pytest.fixture
def bucket(bucket_server: BucketServer) -> Iterator[BucketServer]:
    """The server, with its bucket as the place of files."""
    with keeping_at(bucket_server.url):
        yield bucket_server
