"""HTTP calls by the standard library: no redirect is followed, no error is raised."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT_S = 30.0


class Unreachable(Exception):
    """The server did not answer; the text says how."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: header names in lower case, `seconds` until all of it was there."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0.0

    def read_json(self) -> Any:
        """Return the body's JSON, None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def send(
    method: str,
    url: str,
    *,
    headers: dict[str, str],
    body: bytes | None = None,
    timeout: float = TIMEOUT_S,
) -> Answer:
    """Send one request on a connection of its own. Raises: Unreachable."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            parts.netloc, timeout=timeout, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(parts.netloc, timeout=timeout)
    begun = time.monotonic()
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(type(error).__name__) from None
    finally:
        connection.close()
    names = {name.lower(): value for name, value in answer.getheaders()}
    return Answer(answer.status, names, content, time.monotonic() - begun)


@dataclass(slots=True)
class Api:
    """An Assay API with a key; paths begin with a slash."""

    base_url: str
    key: str = field(repr=False)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """Call a path; `key` replaces the API's own, "" sends none."""
        sent = {"accept": "application/json", **(headers or {})}
        chosen = self.key if key is None else key
        if chosen:
            sent["x-service-api-key"] = chosen
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["content-type"] = "application/json"
        url = self.base_url.rstrip("/") + path
        if query:
            url += "?" + urlencode(query)
        return send(method, url, headers=sent, body=data)
