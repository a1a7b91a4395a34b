"""Outgoing HTTP calls that end at a set time, whatever they wait for.

An HTTP client's own timeouts are for each wait: a server that sends a byte now and then
is never late.
"""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from portal.lib.network.addresses import parse_ip_address

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Sequence

    # Of a host and its addresses, those that may be called; may raise instead.
    Choose = Callable[[str, Sequence[str]], Sequence[str]]


class DeadlineTransport(httpx.HTTPTransport):
    """A transport whose calls are over at `ends`, in seconds of `time.monotonic`.

    That holds for the look-up of the name, each of its addresses, TLS, and every byte
    that is sent or read; a timeout of the client still holds for each wait. `choose`
    picks the addresses that may be called: the very ones that are connected to. The
    environment's proxies are not used. Raises: httpx.TimeoutException, and what
    `choose` raises. Source: Ours: a slow server must not hold a process of ours.
    """

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext,
        ends: float = 0.0,
        choose: Choose = lambda _host, addresses: addresses,
    ) -> None:
        super().__init__(verify=ssl_context, trust_env=False)
        self.ends = ends
        # The library's own pool takes a network, its transport has no word for it.
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context,
            network_backend=_Network(lambda: self.ends - time.monotonic(), choose),
        )


class _Network(httpcore.SyncBackend):
    """Opens connections in the time that `left` says, in seconds."""

    def __init__(self, left: Callable[[], float], choose: Choose) -> None:
        self._left = left
        self._choose = choose

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        found = _look_up(host, port, within=_bound(self._left(), None))
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._choose(host, found):
            within = _bound(self._left(), timeout, httpcore.ConnectTimeout)
            try:
                opened = super().connect_tcp(
                    address, port, within, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(opened, self._left)
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection on which nothing is waited for longer than `left` says."""

    def __init__(
        self, inner: httpcore.NetworkStream, left: Callable[[], float]
    ) -> None:
        self._inner = inner
        self._left = left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _bound(self._left(), timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        within = _bound(self._left(), timeout, httpcore.WriteTimeout)
        self._inner.write(buffer, within)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        within = _bound(self._left(), timeout, httpcore.ConnectTimeout)
        inner = self._inner.start_tls(ssl_context, server_hostname, within)
        return _Stream(inner, self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _bound(
    left: float,
    timeout: float | None,
    late: type[httpcore.TimeoutException] = httpcore.ReadTimeout,
) -> float:
    """The shorter of both, in seconds. Raises: `late`, where nothing is left."""
    if left <= 0:
        raise late
    return left if timeout is None else min(left, timeout)


def _look_up(host: str, port: int, *, within: float) -> list[str]:
    """The addresses of a host, each once, in the resolver's order.

    Resolvers take no time limit: one that is late is left to itself, in a thread that
    ends with it. Raises: httpcore.ConnectTimeout, httpcore.ConnectError.
    """
    if parse_ip_address(host) is not None:
        return [host]
    addresses: Future[list[str]] = Future()

    def ask() -> None:
        try:
            places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses.set_result([str(place[0]) for *_, place in places])
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            addresses.set_exception(error)

    Thread(target=ask, name="look-up", daemon=True).start()
    try:
        return list(dict.fromkeys(addresses.result(timeout=within)))
    except TimeoutError:
        raise httpcore.ConnectTimeout from None
    except (OSError, UnicodeError):
        raise httpcore.ConnectError("no such host") from None
