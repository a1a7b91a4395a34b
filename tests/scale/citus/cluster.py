"""A coordinator and workers of Citus on loopback, and databases spread over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

from portal.lib.database.roles import BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE
from tests.private_server import HOST, ROLE, PrivateServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import psycopg

# Few shards, as each month has all of them. What a coordinator that died left prepared
# on workers is ended every second: every minute, unless it is said.
OPTIONS = (
    "shared_preload_libraries=citus",
    "max_prepared_transactions=100",
    "max_connections=200",
    "max_worker_processes=24",
    "wal_level=logical",
    "citus.shard_count=8",
    "citus.node_conninfo=sslmode=disable",
    "citus.recover_2pc_interval=1s",
    "citus.enable_statistics_collection=off",
    "fsync=off",
)


class Cluster:
    """Made and started, with one database; `remove` leaves nothing behind."""

    def __init__(self, programs: Path, database: str, *, workers: int = 2) -> None:
        self._programs = programs
        self.database = database
        self.workers: list[PrivateServer] = []
        self.coordinator = self._start()
        try:
            with self.connect_as_superuser() as opened:
                opened.execute(
                    "SELECT citus_set_coordinator_host(%s, %s)",
                    [HOST, self.coordinator.port],
                )
            for _ in range(workers):
                self.add_worker()
        except BaseException:
            self.remove()
            raise

    def servers(self) -> Iterator[PrivateServer]:
        yield self.coordinator
        yield from self.workers

    def add_worker(self) -> PrivateServer:
        """Add an empty worker."""
        worker = self._start()
        self.workers.append(worker)
        with self.connect_as_superuser() as opened:
            opened.execute("SELECT citus_add_node(%s, %s)", [HOST, worker.port])
        return worker

    def connect_as_superuser(self) -> psycopg.Connection[tuple[int]]:
        return self.coordinator.connect("postgres", self.database)

    def remove(self) -> None:
        for server in self.servers():
            server.remove()

    def _start(self) -> PrivateServer:
        server = PrivateServer(options=OPTIONS, programs=self._programs)
        with server.connect("postgres", "postgres") as opened:
            # The suite makes a database, and looks up those of earlier runs.
            opened.execute(f"ALTER ROLE {ROLE} CREATEDB")
            for role in (BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE):
                opened.execute(f"CREATE ROLE {role} LOGIN NOINHERIT")
            opened.execute(f"GRANT {BUNDLED_WORK_ROLE} TO {ROLE}")
            opened.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(self.database), sql.Identifier(ROLE)
                )
            )
        with server.connect("postgres", self.database) as opened:
            opened.execute("CREATE EXTENSION citus")
        return server
