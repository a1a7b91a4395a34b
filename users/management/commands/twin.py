"""`manage.py twin`: serve the twin of a provider, to try the portal without it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from users.demo.twins.dexcom import DexcomTwin
from users.demo.twins.filling import (
    announce_dexcom,
    announce_garmin,
    announce_google_health,
    announce_oura,
    announce_polar,
    announce_strava,
    announce_suunto,
    announce_whoop,
    announce_withings,
    fill_dexcom,
    fill_garmin,
    fill_google_health,
    fill_oura,
    fill_polar,
    fill_strava,
    fill_suunto,
    fill_whoop,
    fill_withings,
)
from users.demo.twins.garmin import GarminTwin
from users.demo.twins.google_health import GoogleHealthTwin
from users.demo.twins.oura import OuraTwin
from users.demo.twins.polar import PolarTwin
from users.demo.twins.rest import build_twin_server
from users.demo.twins.strava import StravaTwin
from users.demo.twins.suunto import SuuntoTwin
from users.demo.twins.whoop import WhoopTwin
from users.demo.twins.withings import WithingsTwin
from users.demo.twins.withings_server import build_withings_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import ThreadingHTTPServer

    from django.core.management.base import CommandParser

# By provider: its twin, what serves it, its first data, what comes later, and the
# settings of the portal that name its address.
_TWINS: dict[str, tuple[Any, Any, Any, Any, tuple[str, ...]]] = {
    "withings": (
        WithingsTwin,
        build_withings_server,
        fill_withings,
        announce_withings,
        ("WITHINGS_API_URL", "WITHINGS_SIGN_IN_URL"),
    ),
    "oura": (OuraTwin, build_twin_server, fill_oura, announce_oura, ("OURA_URL",)),
    "whoop": (
        WhoopTwin,
        build_twin_server,
        fill_whoop,
        announce_whoop,
        ("WHOOP_API_URL",),
    ),
    "polar": (
        PolarTwin,
        build_twin_server,
        fill_polar,
        announce_polar,
        ("POLAR_API_URL", "POLAR_SIGN_IN_URL", "POLAR_TOKEN_URL"),
    ),
    "dexcom": (
        DexcomTwin,
        build_twin_server,
        fill_dexcom,
        announce_dexcom,
        ("DEXCOM_API_URL",),
    ),
    "strava": (
        StravaTwin,
        build_twin_server,
        fill_strava,
        announce_strava,
        ("STRAVA_API_URL",),
    ),
    "garmin": (
        GarminTwin,
        build_twin_server,
        fill_garmin,
        announce_garmin,
        ("GARMIN_API_URL", "GARMIN_SIGN_IN_URL", "GARMIN_TOKEN_URL"),
    ),
    "google_health": (
        GoogleHealthTwin,
        build_twin_server,
        fill_google_health,
        announce_google_health,
        (
            "GOOGLE_HEALTH_API_URL",
            "GOOGLE_HEALTH_SIGN_IN_URL",
            "GOOGLE_HEALTH_TOKEN_URL",
        ),
    ),
    "suunto": (
        SuuntoTwin,
        build_twin_server,
        fill_suunto,
        announce_suunto,
        ("SUUNTO_API_URL", "SUUNTO_TOKEN_URL"),
    ),
}


class Command(BaseCommand):
    """Serve the twin of a provider on this machine until it is stopped."""

    help = (
        "Serve a made-up provider on this machine, with half a year of one person's"
        " data. It prints the settings with which the portal uses it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the provider and the port."""
        parser.add_argument("provider", choices=list(_TWINS), help="which provider")
        parser.add_argument("--port", type=int, default=8471, help="where it listens")
        parser.add_argument(
            "--push-every",
            type=int,
            default=0,
            metavar="SECONDS",
            help="add something this often, and announce it",
        )
        parser.add_argument(
            "--push-to",
            default="",
            metavar="URL",
            help="push address, where it is entered by hand (not for withings, oura,"
            " polar, strava)",
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
        name = options["provider"]
        make, build, fill, announce, addresses = _TWINS[name]
        twin = make()
        fill(twin, timezone.now().astimezone(UTC))
        if options["push_to"]:
            twin.push_url = options["push_to"]
        server: ThreadingHTTPServer = build(twin, options["port"])
        lines = [f"{address}={twin.url}" for address in addresses]
        lines.append(f"{name.upper()}_CLIENT_ID={twin.client_id}")
        lines.append(f"{name.upper()}_CLIENT_SECRET={twin.client_secret}")
        more: dict[str, str] = getattr(twin, "more", {})
        lines += [f"{name.upper()}_{key.upper()}={more[key]}" for key in more]
        self.stdout.write("\n".join(lines))
        sender = twin.sender
        sender.lost, sender.doubled = options["lose"] / 100, options["double"] / 100
        sender.is_shuffled = options["shuffle"]
        ends = threading.Event()
        if options["push_every"]:
            every = timedelta(seconds=options["push_every"])
            threading.Thread(
                target=_announce_until, args=(twin, announce, ends, every)
            ).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            ends.set()
            server.server_close()


def _announce_until(
    twin: Any,
    announce: Callable[[Any, datetime], None],
    ends: threading.Event,
    every: timedelta,
) -> None:
    """Add something every so often and announce it."""
    while not ends.wait(every.total_seconds()):
        with twin.lock:
            announce(twin, timezone.now().astimezone(UTC))
        twin.sender.deliver()
