"""A real SFTP server on this machine, from asyncssh, with folders of a test."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

USER, PASSWORD = "assay", "correct horse"


@dataclass
class RunningServer:
    """Its folders `from-lab` and `to-lab`, and what was asked of it."""

    port: int
    folder: Path
    host_key: str
    client_key: str
    fails: set[str] = field(default_factory=set)

    def put(self, name, content, *, age_s=60):
        import os
        import time

        path = self.folder / "from-lab" / name
        path.write_bytes(content)
        os.utime(path, (time.time() - age_s,) * 2)

    def names(self, folder):
        return sorted(path.name for path in (self.folder / folder).iterdir())


@contextmanager
def running_sftp_server(folder):
    for name in ("from-lab", "to-lab"):
        (folder / name).mkdir(parents=True)
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    client_key = asyncssh.generate_private_key("ssh-ed25519")
    started: list[RunningServer] = []
    is_ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    class SignIn(asyncssh.SSHServer):
        def begin_auth(self, username):
            return True

        def password_auth_supported(self):
            return True

        def validate_password(self, username, password):
            return (username, password) == (USER, PASSWORD)

        def public_key_auth_supported(self):
            return True

        def validate_public_key(self, username, key):
            return key.public_data == client_key.public_data

    class Files(asyncssh.SFTPServer):
        def __init__(self, chan):
            super().__init__(chan, chroot=str(folder))

        def remove(self, path):
            if "remove" in started[0].fails:
                raise asyncssh.SFTPPermissionDenied("not allowed")
            return super().remove(path)

    async def serve():
        server = await asyncssh.create_server(
            SignIn,
            "127.0.0.1",
            0,
            server_host_keys=[host_key],
            sftp_factory=Files,
        )
        port = server.sockets[0].getsockname()[1]
        started.append(
            RunningServer(
                port,
                folder,
                host_key.export_public_key().decode(),
                client_key.export_private_key().decode(),
            )
        )
        is_ready.set()
        await stop.wait()
        server.close()
        await server.wait_closed()

    thread = threading.Thread(target=loop.run_until_complete, args=[serve()])
    thread.start()
    is_ready.wait(10)
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
