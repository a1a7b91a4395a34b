"""Deliver webhooks: the outbox's worker, one process or more."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import time
from typing import TYPE_CHECKING, Any

import psycopg
from django.core.management.base import BaseCommand
from django.db import OperationalError, connection

from accounts.webhooks.delivery.sending import Sender
from accounts.webhooks.delivery.worker import Deliverer
from accounts.webhooks.queries.deliverers import DELIVERER_NAME
from portal.lib.database.tenant_proofs import prove_tenant
from portal.lib.tenancy import ALL_TENANTS, OPEN_TO_ALL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from django.core.management.base import CommandParser

logger = logging.getLogger(__name__)
DATABASE_POLL_S = 1.0


class Command(BaseCommand):
    """`manage.py deliver_webhooks`."""

    help = "Deliver events to webhook endpoints until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--until-idle",
            action="store_true",
            help="exit when no delivery is due",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """SIGTERM and SIGINT let what is in flight end; a second one is not waited."""
        wait_for_database()
        asyncio.run(deliver(until_idle=options["until_idle"]))


def wait_for_database() -> None:
    """Return once the database answers; one that restarts may still be starting."""
    while True:
        try:
            connection.ensure_connection()
        except OperationalError:
            logger.warning("The database is not available yet.")
            time.sleep(DATABASE_POLL_S)
        else:
            return


async def deliver(*, until_idle: bool) -> None:
    """Run one deliverer in this process."""
    # What is loaded stays, and a message leaves little: looking for garbage as often as
    # usual costs as much as sending.
    gc.freeze()
    gc.set_threshold(20_000)
    async with Sender() as sender:
        deliverer = Deliverer(connect=connector(), sender=sender)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, deliverer.stop)
        await deliverer.run(until_idle=until_idle)


def connector() -> Callable[[], Awaitable[psycopg.AsyncConnection[Any]]]:
    """How to open a connection of its own to Django's database."""
    fields = connection.get_connection_params()
    fields = {k: v for k, v in fields.items() if k not in {"context", "cursor_factory"}}
    fields["application_name"] = DELIVERER_NAME

    async def connect() -> psycopg.AsyncConnection[Any]:
        opened = await psycopg.AsyncConnection.connect(**fields, autocommit=True)
        # One deliverer serves every tenant.
        await opened.execute(OPEN_TO_ALL, [prove_tenant(ALL_TENANTS)])
        return opened

    return connect
