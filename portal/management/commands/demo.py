"""`manage.py demo`: a whole running Assay, with teams and data, in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.demo.run import DemoOptions, DemoRefused, run_demo

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Run the demo until Ctrl-C."""

    help = (
        "Start PostgreSQL, web server, workers and a receiver of webhooks with demo"
        " data, and stop them on Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --port, --host, --reset and --bare."""
        parser.add_argument("--port", type=int, default=8000, help="default: 8000")
        parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
        parser.add_argument(
            "--reset", action="store_true", help="forget the data of earlier runs"
        )
        parser.add_argument(
            "--bare", action="store_true", help="teams and access without any data"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it; what cannot be helped here becomes one sentence and exit code 1."""
        demo_options = DemoOptions(
            host=options["host"],
            port=options["port"],
            reset=options["reset"],
            bare=options["bare"],
        )
        try:
            run_demo(demo_options, say=self._say)
        except DemoRefused as refused:
            raise CommandError(str(refused)) from None

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
