"""Django behind the event loop: a request with its whole body to a thread, and back.

/healthz is answered by the loop itself and /readyz by a thread of its own, so that both
answer while every other thread is at work.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from functools import partial
from http import HTTPStatus
from importlib import import_module
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import unquote_to_bytes

import orjson

from portal.lib.budgets import find_budget
from portal.server.answers import (
    HEALTHY,
    Answer,
    hold_refusal,
    send_answer,
    send_refusal,
)
from portal.server.bodies import BodyRefused, CutOff, receive_request_body
from portal.server.connections import (
    BoundedConnection,
    close_timed_out_connections,
    room,
)
from portal.server.streams import Gone, Stream
from portal.server.threads import Threads, finish, finish_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uvicorn._types import (
        ASGIReceiveCallable,
        ASGISendCallable,
        HTTPScope,
        Scope,
    )

    from portal.server.answers import Headers
    from portal.server.threads import Place

    Environ = dict[str, Any]
    Handler = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

logger = logging.getLogger(__name__)

# Requests of a process that may wait for a thread; one more is told to come back.
MOST_WAITING = 500
MOST_OF_ONE_TEAM = 400
MOST_WAITING_FOR_HEALTH = 20
# Batches of phones have a thread of their own: however many send their backlog at once,
# the other threads are there for everybody else. A second thread would take more of the
# interpreter from those. What waits is answered before its sender gives up.
MOST_UPLOADS_WAITING = 63
MOST_UPLOADS_OF_ONE_TEAM = 32
UPLOAD_RETRY_AFTER_S = 5
_UNPACKED = frozenset({"", "identity"})
_NO_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class _Refused(Exception):
    """A request that gets this answer instead of a view's."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Application:
    """The ASGI application of a module like portal.wsgi.

    The module is imported when a process starts to serve.
    """

    def __init__(self, wsgi: str = "portal.wsgi") -> None:
        self.wsgi = wsgi
        self.environ: Environ = {
            "SCRIPT_NAME": "",
            "wsgi.version": (1, 0),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            "wsgi.url_scheme": "http",
        }

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Serve a process's life, or one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _live(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        self.loop = asyncio.get_running_loop()
        await receive()
        self.health = Threads(1, "health", most_waiting=MOST_WAITING_FOR_HEALTH)
        # In a thread, as Django refuses to touch a database in the loop's own.
        await self.loop.run_in_executor(self.health.pool, self._load)
        self.threads = Threads(
            self.size,
            "web",
            most_waiting=MOST_WAITING,
            most_of_one=MOST_OF_ONE_TEAM,
            time_of_one=self.time_of_one,
        )
        self.uploads = Threads(
            1,
            "uploads",
            most_waiting=MOST_UPLOADS_WAITING,
            most_of_one=MOST_UPLOADS_OF_ONE_TEAM,
            retry_after_s=UPLOAD_RETRY_AFTER_S,
        )
        close_timed_out_connections(self.loop)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.loop.run_in_executor(None, self.stop)
        await send({"type": "lifespan.shutdown.complete"})

    def _load(self) -> None:
        module: Any = import_module(self.wsgi)  # which sets Django up
        from django.conf import settings

        from portal.http.body_limits import (
            CALLER_MAY_SEND,
            CallerLimit,
            takes_uploads,
        )
        from portal.lib.storage.scratch import prepare_scratch_folder
        from portal.lib.web.proxies import parse_ip_networks

        self.handler: Handler = module.application
        self.caller_limit, self.may_send_key = CallerLimit(), CALLER_MAY_SEND
        self.takes_uploads: Callable[[str], bool] = takes_uploads
        self.stop: Callable[[], None] = module.flush_before_exit
        self.folder = str(prepare_scratch_folder())
        self.api_prefixes: tuple[str, ...] = settings.API_PREFIXES
        self.size: int = settings.WEB_THREADS
        self.time_of_one: float = settings.WEB_TEAM_TIME
        self.anybody: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        room.per_address = settings.WEB_CONNECTIONS_PER_ADDRESS
        room.in_all = settings.WEB_CONNECTIONS
        room.trusted = parse_ip_networks(settings.TRUSTED_PROXIES)

    async def _serve(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        connection: BoundedConnection = scope["connection"]  # type: ignore[typeddict-item]
        if scope["path"] == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            await send_answer(send, HEALTHY, connection)
            return
        environ = self._environ(scope)
        body: IO[bytes] = BytesIO()
        threads = self.health if scope["path"] == "/readyz" else self.threads
        try:
            if "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ:
                if self.takes_uploads(environ["PATH_INFO"]):
                    threads = self.uploads
                try:
                    self._check_room(threads, environ)
                    body = await self._body(
                        environ, connection, receive, unpacks=threads is self.uploads
                    )
                except _Refused as refused:
                    await hold_refusal(refused.answer)
                    await send_refusal(send, receive, refused.answer, environ)
                    return
            environ["wsgi.input"] = body
            answer = await self._work(self.handler, environ, connection, threads)
        except CutOff:
            return
        except _Refused as refused:
            answer = refused.answer
        finally:
            body.close()
        if threads is not self.health:
            await hold_refusal(answer)
        await send_answer(send, answer, connection)

    async def _body(
        self,
        environ: Environ,
        connection: BoundedConnection,
        receive: ASGIReceiveCallable,
        *,
        unpacks: bool,
    ) -> IO[bytes]:
        """The whole body; CONTENT_LENGTH states its length then. Raises: _Refused.

        unpacks: whether the view takes gzip; its limit is of the body as it is sent.
        """
        path = environ["PATH_INFO"]
        coding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
        if coding not in _UNPACKED and not (unpacks and coding == "gzip"):
            sentence = "Send the body without Content-Encoding."
            answer = self._refusal(path, 415, "unsupported_content_coding", sentence)
            answer.headers.append((b"accept-encoding", b"identity"))
            raise _Refused(answer)

        async def may_send(length: int) -> int:
            limit_environ = {
                **environ,
                "CONTENT_LENGTH": str(length),
                "wsgi.input": BytesIO(),
            }
            answer = await self._work(
                self.caller_limit, limit_environ, connection, self.threads
            )
            if self.may_send_key not in limit_environ:
                raise _Refused(answer)
            limit: int = limit_environ[self.may_send_key]
            return limit

        at_most, stated = self.anybody, int(environ.get("CONTENT_LENGTH") or 0)
        is_asked = stated > at_most
        if is_asked:
            at_most = await may_send(stated)
        try:
            body, length = await receive_request_body(
                receive,
                at_most=at_most,
                may_send=None if is_asked else may_send,
                folder=self.folder,
            )
        except BodyRefused as refused:
            raise _Refused(
                self._refusal(path, refused.status, refused.code, refused.sentence)
            ) from None
        environ["CONTENT_LENGTH"] = str(length)
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        return body

    def _check_room(self, threads: Threads, environ: Environ) -> Place:
        """What a request counts with. Raises: _Refused where too many wait."""
        path = environ["PATH_INFO"]
        budget = find_budget(path) if threads is self.threads else None
        place = threads.find_place(environ, budget)
        if wait := threads.find_wait(place):
            sentence = "The server is busy. Try again in a moment."
            answer = self._refusal(path, 503, "busy", sentence)
            answer.headers.append((b"retry-after", str(wait).encode()))
            raise _Refused(answer)
        return place

    async def _work(
        self,
        handler: Handler,
        environ: Environ,
        connection: BoundedConnection,
        threads: Threads,
    ) -> Answer:
        """Have a thread do it.

        Raises: _Refused where too many wait for one; CutOff where the client went away
        before its turn.
        """
        place = self._check_room(threads, environ)
        answered: asyncio.Future[Answer | None] = self.loop.create_future()
        run = partial(self._run, handler, environ, connection, answered)
        connection.at_work = True
        threads.take(place, partial(finish_after, run, environ))
        try:
            found = await answered
        finally:
            threads.give_back(place, environ)
            connection.at_work = False
        if found is None:
            raise CutOff
        return found

    def _run(
        self,
        handler: Handler,
        environ: Environ,
        connection: BoundedConnection,
        answered: asyncio.Future[Answer | None],
    ) -> None:
        """Call a WSGI application, in a thread, and settle `answered`.

        None: the client is gone, and nothing was begun.
        """

        def settle(answer: Answer | None) -> None:
            self.loop.call_soon_threadsafe(_settle, answered, answer)

        if connection.is_gone:
            settle(None)
            return
        begun: list[tuple[int, Headers]] = []

        def start_response(
            status: str, headers: list[tuple[str, str]], _exc_info: Any = None
        ) -> None:
            encoded = [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in headers
            ]
            begun[:] = [(int(status[:3]), encoded)]

        try:
            response = handler(environ, start_response)
            if getattr(response, "streaming", False):
                finish(environ)  # its parts are made only now
            try:
                status, headers = begun[0]
                if (
                    getattr(response, "streaming", False)
                    and environ["SERVER_PROTOCOL"] != "HTTP/1.0"
                ):
                    parts = Stream(self.loop, self.folder)
                    settle(Answer(status, headers, parts=parts))
                    _write(parts, response, environ)
                    return
                body = b"" if status in _NO_BODY else b"".join(response)
            finally:
                cast(Any, response).close()
        except Exception:  # Django answers its own; this is a fault of the frame
            logger.exception("a request failed outside of its view")
            settle(
                self._refusal(
                    environ["PATH_INFO"], 500, "fault", "Internal server error."
                )
            )
            return
        if status not in _NO_BODY and not any(
            name.lower() == b"content-length" for name, _ in headers
        ):
            headers.append((b"content-length", str(len(body)).encode()))
        settle(Answer(status, headers, body))

    def _environ(self, scope: HTTPScope) -> Environ:
        """The WSGI environment of a request, without its body (PEP 3333)."""
        path, client = scope["raw_path"], scope["client"] or ("", 0)
        server = scope["server"] or ("", 0)
        environ = {
            **self.environ,
            "REQUEST_METHOD": scope["method"],
            "PATH_INFO": (unquote_to_bytes(path) if b"%" in path else path).decode(
                "latin-1"
            ),
            "QUERY_STRING": scope["query_string"].decode("latin-1"),
            "SERVER_NAME": server[0],
            "SERVER_PORT": str(server[1] or ""),
            "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
            "REMOTE_ADDR": client[0],
            "REMOTE_PORT": str(client[1]),
        }
        for name, value in scope["headers"]:
            key = name.decode("latin-1").upper().replace("-", "_")
            if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
                key = f"HTTP_{key}"
            text = value.decode("latin-1")
            if key in environ:
                text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
            environ[key] = text
        return environ

    def _refusal(self, path: str, status: int, code: str, sentence: str) -> Answer:
        """An answer of the server's own, JSON below the API's paths."""
        from portal.lib.api.operation_outcome import (
            FHIR_MEDIA_TYPE,
            FHIR_PREFIX,
            build_operation_outcome,
        )

        if path.startswith(self.api_prefixes):
            content: dict[str, object] = {"detail": sentence, "code": code}
            kind = b"json"
            if path.startswith(FHIR_PREFIX):
                content, kind = build_operation_outcome(status, content), b"fhir"
            body = orjson.dumps(content)
        else:
            body, kind = sentence.encode(), b"plain"
        media = {
            b"fhir": FHIR_MEDIA_TYPE.encode(),
            b"json": b"application/json",
            b"plain": b"text/plain; charset=utf-8",
        }
        return Answer(
            status,
            [
                (b"content-type", media[kind]),
                (b"content-length", str(len(body)).encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
            ],
            body,
        )


def _settle(answered: asyncio.Future[Answer | None], answer: Answer | None) -> None:
    if not answered.done():  # cancelled, where the process is stopping
        answered.set_result(answer)
    elif answer and answer.parts:
        answer.parts.close()


def _write(parts: Stream, response: Iterable[bytes], environ: Environ) -> None:
    """Put an answer that is made in parts where its client takes it from."""
    is_whole = False
    try:
        if environ["REQUEST_METHOD"] != "HEAD":
            for part in response:
                parts.write(part)
        is_whole = True
    except Gone:
        pass
    except Exception:  # its beginning is sent: the client sees it end in the middle
        logger.exception("an answer broke off")
    finally:
        parts.end(is_whole=is_whole)


application = Application()
