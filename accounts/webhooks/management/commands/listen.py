"""Receive webhooks on this machine: print what arrives and whether it is signed."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from accounts.webhooks.addresses import is_allowed_local_webhook_host
from accounts.webhooks.listening import Listener, start_local_webhook_listener
from accounts.webhooks.models import Endpoint
from accounts.webhooks.signing import SecretInvalid, decode_signing_secret
from portal.lib.secrets.encryption import UnreadableSecret, decrypt_secret
from portal.lib.secrets.private_files import open_owner_only_file
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py listen --port N`."""

    help = (
        "Receive webhooks at http://127.0.0.1:PORT/ and print one line for each."
        " Signatures are checked with --secret or, without it, with the secrets of this"
        " database's endpoints on that port. A path such as /status/503 responds with"
        " that status."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument(
            "--secret", action="append", metavar="whsec_…", help="may be repeated"
        )
        parser.add_argument("--body", action="store_true", help="print bodies too")
        parser.add_argument(
            "--output", metavar="FILE", help="append to a file instead of stdout"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        port, given = options["port"], options["secret"]
        try:
            keys = [decode_signing_secret(secret) for secret in given or ()]
        except SecretInvalid as invalid:
            raise CommandError(f"--secret: {invalid}.") from None
        output = options["output"]
        with _append_to(output) if output else nullcontext(self._say) as say:
            listener = Listener(
                keys=(lambda: keys) if given else partial(_ask, port),
                say=say,
                shows_bodies=options["body"],
            )
            try:
                asyncio.run(self._listen(listener, port))
            except (OSError, OverflowError):
                raise CommandError(
                    f"Can't listen on port {port}: it is in use or not allowed."
                ) from None

    async def _listen(self, listener: Listener, port: int) -> None:
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        runner = await start_local_webhook_listener(listener.app(), port=port)
        try:
            await stopping.wait()
        finally:
            await runner.cleanup()

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def find_secrets_by_port(port: int) -> list[bytes]:
    """The keys of all endpoints of this database that post to this port, here."""
    with across_tenants(why="a port may be the endpoint of several teams"):
        found = list(Endpoint.unscoped.filter(deleted_at=None).order_by("-pk"))
    keys = []
    for endpoint in found:
        parts = urlsplit(endpoint.url)
        if parts.port != port or not is_allowed_local_webhook_host(
            parts.hostname or ""
        ):
            continue
        for secret in filter(None, (endpoint.secret, endpoint.previous_secret)):
            try:
                keys.append(decode_signing_secret(decrypt_secret(secret)))
            except UnreadableSecret:
                continue
    return keys


def _ask(port: int) -> list[bytes]:
    try:
        return find_secrets_by_port(port)
    finally:
        connection.close()  # the next question may be hours away


@contextmanager
def _append_to(path: str) -> Iterator[Callable[[str], None]]:
    """A way to say things in a file, which is the caller's alone to read."""
    try:
        file = open_owner_only_file(Path(path), "a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from None

    with file:
        yield lambda text: print(text, file=file)
