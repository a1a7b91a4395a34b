"""`manage.py twin`: serve the twin of a provider, to try the portal without it."""

from __future__ import annotations

import threading
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from users.demo.twins.withings import WithingsTwin
from users.demo.twins.withings_server import build_withings_server

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

_DAYS = 180


class Command(BaseCommand):
    """Serve the twin of a provider on this machine until it is stopped."""

    help = (
        "Serve a made-up provider on this machine, with half a year of one person's"
        " data. It prints the settings with which the portal uses it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the provider and the port."""
        parser.add_argument("provider", choices=["withings"], help="which provider")
        parser.add_argument("--port", type=int, default=8471, help="where it listens")
        parser.add_argument(
            "--push-every",
            type=int,
            default=0,
            metavar="SECONDS",
            help="add a weighing this often, and announce it",
        )
        parser.add_argument(
            "--lose", type=int, default=0, metavar="PERCENT", help="of announcements"
        )
        parser.add_argument(
            "--double", type=int, default=0, metavar="PERCENT", help="of announcements"
        )
        parser.add_argument(
            "--shuffle", action="store_true", help="send announcements in any order"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until interrupted."""
        twin = WithingsTwin()
        _fill(twin)
        server = build_withings_server(twin, options["port"])
        self.stdout.write(
            f"WITHINGS_API_URL={twin.url}\nWITHINGS_SIGN_IN_URL={twin.url}\n"
            f"WITHINGS_CLIENT_ID={twin.client_id}\n"
            f"WITHINGS_CLIENT_SECRET={twin.client_secret}"
        )
        sender = twin.sender
        sender.lost, sender.doubled = options["lose"] / 100, options["double"] / 100
        sender.is_shuffled = options["shuffle"]
        ends = threading.Event()
        if options["push_every"]:
            threading.Thread(
                target=_weigh_until, args=(twin, ends, options["push_every"])
            ).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            ends.set()
            server.server_close()


def _weigh_until(twin: WithingsTwin, ends: threading.Event, seconds: int) -> None:
    """Add a weighing every so often and announce it."""
    while not ends.wait(seconds):
        now = int(timezone.now().timestamp())
        twin.add_measures(now, {1: (72_000 + now % 1000, -3)})
        twin.announce(1, now, now + 1)
        twin.sender.deliver()


def _fill(twin: WithingsTwin) -> None:
    """Add a weighing, a blood pressure and a night for each of the last days."""
    now = timezone.now().astimezone(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for back in range(_DAYS):
        day = today - timedelta(days=back)
        morning = int((day + timedelta(hours=6, minutes=back % 50)).timestamp())
        twin.add_measures(
            morning, {1: (72_400 + back * 13 % 900, -3), 6: (21_400 + back % 400, -3)}
        )
        twin.add_measures(
            morning + 300, {9: (74 + back % 9, 0), 10: (118 + back % 11, 0)}
        )
        twin.add_night(
            morning - 8 * 3600,
            morning,
            day.date().isoformat(),
            total_timeinbed=28_800,
            total_sleep_time=26_100,
            wakeupduration=2700,
            lightsleepduration=13_500,
            deepsleepduration=6300,
            remsleepduration=6300,
            sleep_score=70 + back % 25,
            hr_average=57,
            hr_min=48,
            rr_average=14,
        )
