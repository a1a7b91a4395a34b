"""Folders on an SFTP server: list, read, write and remove files.

By asyncssh: it is typed, has a server for tests, and its client and server are kept
together. paramiko has threads of its own and no server for files. It is imported when
first used.
"""

from __future__ import annotations

import asyncio
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from django.utils import timezone

from labs.gateways.hl7.drop import SETTLE, is_unfinished
from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.messages import MAX_FILE_BYTES
from labs.gateways.hl7.networks import look_up_lab
from labs.states.connections import TransportFault

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    import asyncssh

Found = TypeVar("Found")

CONNECT_S = 15
# For one file or listing.
STEP_S = 120
# Files of one visit, and names that are looked at.
MAX_FILES = 500
MAX_NAMES = 20_000
SECRET_MAX_LENGTH = 10_000


class SftpSettingsInvalid(ValueError):
    """A key that is none, or needs a passphrase; a secret that is too long."""


@dataclass(frozen=True, slots=True)
class SftpServer:
    """Where to connect, the user name, and the only host key that is accepted.

    `secret` is a password, or a private key as OpenSSH or PEM writes it.
    """

    host: str
    port: int
    user_name: str
    host_key: str
    incoming_folder: str
    outgoing_folder: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file in the incoming folder; `changed_at` is by the server's clock."""

    name: str
    size: int
    changed_at: float


def check_host_key(text: str) -> None:
    """Check a public key as in known_hosts, without the host. Raises:
    SftpSettingsInvalid.
    """
    import asyncssh

    try:
        asyncssh.import_public_key(text.strip())
    except (asyncssh.KeyImportError, ValueError):
        raise SftpSettingsInvalid from None


def check_secret(secret: str) -> None:
    """Check a password or private key. Raises: SftpSettingsInvalid."""
    import asyncssh

    if len(secret) > SECRET_MAX_LENGTH:
        raise SftpSettingsInvalid
    if not _is_private_key(secret):
        return
    try:
        asyncssh.import_private_key(secret)
    except (asyncssh.KeyImportError, ValueError):
        raise SftpSettingsInvalid from None


class SftpFolders:
    """The incoming and outgoing folder of a server, while connected.

    Its methods raise ConnectionFailed. They block, so that a caller's own thread, which
    has its database, goes from step to step.
    """

    def __init__(self, server: SftpServer, session: _Session) -> None:
        self._server = server
        self._run = session.run
        self._client = session.client

    def list_files(self) -> list[RemoteFile]:
        """List complete files of the incoming folder, oldest first; MAX_FILES at most.

        A file that changed a moment ago may still be written.
        """
        return self._run(self._list_files())

    def read_file(self, file: RemoteFile) -> bytes | None:
        """Return a file's content; None if it has changed since it was listed."""
        return self._run(self._read_file(file))

    def write_file(self, name: str, content: bytes) -> None:
        """Write a file to the outgoing folder: under another name, then renamed."""
        self._run(self._write_file(name, content))

    def remove_file(self, file: RemoteFile) -> None:
        """Remove a file of the incoming folder."""
        self._run(self._client.remove(self._incoming(file.name)))

    def check(self) -> None:
        """List the incoming folder and write to the outgoing one."""
        self._run(self._client.listdir(self._server.incoming_folder))
        path = f"{self._server.outgoing_folder}/.check.part"
        self._run(self._write(path, b""))
        self._run(self._client.remove(path))

    async def _list_files(self) -> list[RemoteFile]:
        now = timezone.now().timestamp()
        settle_s = SETTLE.total_seconds()
        found: list[RemoteFile] = []
        number = 0
        async for entry in self._client.scandir(self._server.incoming_folder):
            number += 1
            if number > MAX_NAMES:
                break
            name, attrs = entry.filename, entry.attrs
            if not isinstance(name, str) or "/" in name or is_unfinished(name):
                continue
            # Links and pipes are nobody's results.
            if not stat.S_ISREG(attrs.permissions or 0):
                continue
            changed_at = float(attrs.mtime or 0)
            # As in a folder here: a clock that runs ahead holds no file back for long.
            if not -settle_s <= now - changed_at < settle_s:
                found.append(RemoteFile(name, attrs.size or 0, changed_at))
        return sorted(found, key=lambda one: (one.changed_at, one.name))[:MAX_FILES]

    async def _read_file(self, file: RemoteFile) -> bytes | None:
        async with self._client.open(self._incoming(file.name), "rb") as opened:
            content: bytes = await opened.read(MAX_FILE_BYTES + 1)
            attrs = await opened.stat()
        is_whole = attrs.size == len(content) == file.size
        return content if is_whole and attrs.mtime == file.changed_at else None

    async def _write_file(self, name: str, content: bytes) -> None:
        import asyncssh

        path = f"{self._server.outgoing_folder}/{name}"
        unfinished = f"{self._server.outgoing_folder}/.{name}.part"
        await self._write(unfinished, content)
        try:
            await self._client.posix_rename(unfinished, path)
        except asyncssh.SFTPOpUnsupported:  # by servers that are not OpenSSH's
            if await self._client.exists(path):
                await self._client.remove(path)
            await self._client.rename(unfinished, path)

    async def _write(self, path: str, content: bytes) -> None:
        async with self._client.open(path, "wb") as opened:
            await opened.write(content)

    def _incoming(self, name: str) -> str:
        return f"{self._server.incoming_folder}/{name}"


@contextmanager
def open_sftp_folders(server: SftpServer) -> Iterator[SftpFolders]:
    """Connect to a server whose key is the pinned one. Raises: ConnectionFailed."""
    with asyncio.Runner() as runner:
        session = _Session(runner)
        session.open(server)
        try:
            yield SftpFolders(server, session)
        finally:
            session.close()


def check_sftp_server(server: SftpServer) -> None:
    """Connect, list the one folder and write to the other. Raises: ConnectionFailed."""
    with open_sftp_folders(server) as folders:
        folders.check()


class _Session:
    """A connection whose steps run one at a time, each within STEP_S."""

    client: asyncssh.SFTPClient

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._connection: asyncssh.SSHClientConnection | None = None

    def open(self, server: SftpServer) -> None:
        self._connection = self._runner.run(_connect(server))
        self.client = self.run(_start_sftp(self._connection))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            self._runner.run(self._connection.wait_closed())

    def run(self, step: Coroutine[Any, Any, Found]) -> Found:
        """Run one step. Raises: ConnectionFailed."""
        import asyncssh

        async def within() -> Found:
            async with asyncio.timeout(STEP_S):
                return await step

        try:
            return self._runner.run(within())
        except asyncssh.SFTPConnectionLost:
            raise ConnectionFailed(TransportFault.UNREACHABLE) from None
        except asyncssh.SFTPError:
            raise ConnectionFailed(TransportFault.FOLDER) from None
        except (asyncssh.Error, OSError, TimeoutError):
            raise ConnectionFailed(TransportFault.UNREACHABLE) from None


async def _connect(server: SftpServer) -> asyncssh.SSHClientConnection:
    import asyncssh

    address = await look_up_lab(server.host, server.port)
    sign_in: dict[str, Any] = {"password": server.secret, "client_keys": None}
    if _is_private_key(server.secret):
        key = asyncssh.import_private_key(server.secret)
        sign_in = {"client_keys": [key], "password": None}
    try:
        return await asyncssh.connect(
            address,
            server.port,
            username=server.user_name,
            known_hosts=([asyncssh.import_public_key(server.host_key)], [], []),
            config=None,
            agent_path=None,
            connect_timeout=CONNECT_S,
            login_timeout=CONNECT_S,
            **sign_in,
        )
    except asyncssh.HostKeyNotVerifiable:
        raise ConnectionFailed(TransportFault.HOST_KEY) from None
    except asyncssh.PermissionDenied:
        raise ConnectionFailed(TransportFault.SIGN_IN) from None
    except (asyncssh.Error, OSError, TimeoutError):
        raise ConnectionFailed(TransportFault.UNREACHABLE) from None


async def _start_sftp(
    connection: asyncssh.SSHClientConnection,
) -> asyncssh.SFTPClient:
    return await connection.start_sftp_client()


def _is_private_key(secret: str) -> bool:
    return secret.lstrip().startswith("-----BEGIN ")
