"""`manage.py worker`: run jobs until stopped."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.jobs.jobs import run_worker

if TYPE_CHECKING:
    from argparse import ArgumentParser

# One more than jobs of one team may be at work (portal.lib.budgets).
DEFAULT_CONCURRENCY = 3


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a number of jobs, 1 or more")
    return int(text)


class Command(BaseCommand):
    """Several may run at once, on any machine that reaches the database.

    One that is away is waited for.
    """

    help = "Run jobs until stopped. On SIGTERM, running jobs finish first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency",
            type=_at_least_one,
            default=DEFAULT_CONCURRENCY,
            help=f"jobs at the same time, one thread each ({DEFAULT_CONCURRENCY}); one"
            " team never has all of them",
        )
        parser.add_argument(
            "--queues", nargs="+", default=[], help="only these queues (all)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        was_stop_requested = run_worker(
            concurrency=options["concurrency"], queues=options["queues"]
        )
        if not was_stop_requested:
            raise CommandError("The worker failed. Check its log and start it again.")
