"""Calls of the API, in this process, as the client with a key makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import orjson
from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.handlers.wsgi import WSGIHandler

    from accounts.operations.api_keys.api_keys import KeyGrant


class ToolRefused(Exception):
    """The API refused a call; `code` is its error code, `words` are ours."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(code)
        self.code, self.words = code, words


_WORDS = {
    HTTPStatus.UNAUTHORIZED: ("key_invalid", "The key is not valid any more."),
    HTTPStatus.NOT_FOUND: ("not_found", "Nothing with this ID can be read."),
    HTTPStatus.TOO_MANY_REQUESTS: (
        "rate_limited",
        "The key has made too many calls. Wait a minute.",
    ),
}


@dataclass
class ApiCalls:
    """The API for one question; `number` counts the calls that it took.

    `address` is the client's, `forwarded` what trusted proxies say of it.
    """

    key: str = field(repr=False)
    grant: KeyGrant
    address: str
    forwarded: str = ""
    number: int = 0

    def get(
        self, path: str, params: Mapping[str, object] | None = None, **ids: str
    ) -> Any:
        """Return the JSON of a GET; `ids` fill the path. Raises: ToolRefused."""
        self.number += 1
        quoted = {name: quote(each, safe="") for name, each in ids.items()}
        filled = path.format(**quoted)
        status, body = _answer(self._environ(filled, params or {}))
        if status == HTTPStatus.OK:
            return orjson.loads(body)
        if status in _WORDS:
            raise ToolRefused(*_WORDS[HTTPStatus(status)])
        code = _find_code(body)
        if status == HTTPStatus.FORBIDDEN:
            raise ToolRefused(code or "forbidden", "The key may not read this.")
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ToolRefused(code or "invalid", "The API did not accept the question.")
        raise ToolRefused("failed", "The API failed. Try again later.")

    def _environ(self, path: str, params: Mapping[str, object]) -> dict[str, Any]:
        public = urlsplit(settings.PUBLIC_URL)
        return {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": urlencode(params, doseq=True),
            "SERVER_NAME": public.hostname or "localhost",
            "SERVER_PORT": str(public.port or 80),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": public.netloc,
            "HTTP_ACCEPT": "application/json",
            "HTTP_USER_AGENT": "Assay assistants",
            "HTTP_X_SERVICE_API_KEY": self.key,
            "REMOTE_ADDR": self.address,
            **({"HTTP_X_FORWARDED_FOR": self.forwarded} if self.forwarded else {}),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": public.scheme or "http",
            "wsgi.input": BytesIO(),
            "wsgi.errors": BytesIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }


@cache
def _load_handler() -> WSGIHandler:
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


def _answer(environ: dict[str, Any]) -> tuple[int, bytes]:
    """Return the status and body of an answer.

    Without the signals that begin and end a request: the database connection of this
    thread goes on for the next one.
    """
    from django.core.handlers.wsgi import WSGIRequest

    response = _load_handler().get_response(WSGIRequest(environ))
    return response.status_code, b"".join(response)


def _find_code(body: bytes) -> str:
    """Return the error code of a refusal; its text may quote what was sent."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    code = said.get("code") if isinstance(said, dict) else None
    return code if isinstance(code, str) else ""
