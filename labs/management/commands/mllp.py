"""Exchange HL7 messages with labs by MLLP until stopped."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from labs.operations.connections.mllp import MllpProcess


class Command(BaseCommand):
    """`manage.py mllp`: listen on the port of each connection, and send the queue.

    Several may run; one of them sends. A database that is away is waited for.
    """

    help = (
        "Exchange HL7 messages with labs by MLLP until stopped. On SIGTERM, messages at"
        " hand are still answered."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(run_until_stopped())


async def run_until_stopped() -> None:
    """Run one process of MLLP; SIGTERM and SIGINT end it."""
    process = MllpProcess()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stop)
    await process.run()
