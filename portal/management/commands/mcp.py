"""`manage.py mcp`: let assistants read, by the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """By standard input and output with ASSISTANT_KEY, or by HTTP with `--http`."""

    help = (
        "Let AI assistants read by the Model Context Protocol: one by standard input"
        " and output, with the key in ASSISTANT_KEY, or with --http all that have a"
        " key, at /mcp. Each environment turns them on under Assistants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the transport and where it listens."""
        parser.add_argument(
            "--http", action="store_true", help="serve /mcp by HTTP until stopped"
        )
        parser.add_argument("--host", default="127.0.0.1", help="where it listens")
        parser.add_argument("--port", type=int, default=8010, help="its port (8010)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until stopped."""
        from accounts.api.call_log import flush_api_call_log, start_api_call_log
        from portal.lib.database.time_limits import limit_database_statement_time

        if not options["http"] and not settings.ASSISTANT_KEY:
            raise CommandError("Set ASSISTANT_KEY to an API key of an assistant.")
        limit_database_statement_time()
        start_api_call_log()
        try:
            self._serve(options)
        finally:
            flush_api_call_log()

    def _serve(self, options: dict[str, Any]) -> None:
        from portal.assistants.serving import (
            build_assistant_application,
            serve_assistant_by_stdio,
        )

        if not options["http"]:
            serve_assistant_by_stdio(settings.ASSISTANT_KEY)
            return
        import uvicorn

        from portal.server.__main__ import OPTIONS

        uvicorn.run(
            build_assistant_application(),
            host=options["host"],
            port=options["port"],
            log_level="warning",
            **OPTIONS,
        )
