"""`manage.py parity_report PLATFORM`: compare another platform with this API."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.states import Environment
from users.gateways.moving.assay import KEY_HEADER, AssayApi
from users.gateways.moving.base import PlatformUnavailable
from users.gateways.moving.http import Pace, PlatformHttp
from users.gateways.moving.platforms import PLATFORMS, ClientMissing, open_platform
from users.management.commands.import_from import (
    KEY_VARIABLE,
    find_tenant,
    read_key,
    read_rate,
)
from users.operations.moving.parity import compare_platform, store_parity_report
from users.operations.moving.storing import RESOURCES

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from users.operations.moving.parity_counts import Parity

OUR_KEY_VARIABLE = "PARITY_KEY"


class Command(BaseCommand):
    """Write parity.json and parity.html; keys are read from the environment."""

    help = (
        "Ask another platform and this server for every user and resource, compare"
        " field by field, and write parity.json and parity.html. Keys are read from"
        f" {KEY_VARIABLE} and {OUR_KEY_VARIABLE}. Fails if a difference is unexplained."
        " The files hold health data of what differs: keep them as such. The portal"
        " shows the numbers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("platform", choices=sorted(PLATFORMS))
        parser.add_argument("--url", required=True, help="base URL of the platform")
        parser.add_argument("--base-url", required=True, help="base URL of this server")
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--output", required=True, metavar="FOLDER")
        parser.add_argument(
            "--rate", type=float, default=10, help="calls a second to each, at most"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options)
        folder = Path(options["output"])
        rate = read_rate(options)
        http = PlatformHttp(
            base_url=options["base_url"].rstrip("/") + "/",
            headers={KEY_HEADER: read_key(OUR_KEY_VARIABLE)},
            pace=Pace(rate),
        )
        try:
            platform = open_platform(
                options["platform"],
                url=options["url"],
                key=read_key(KEY_VARIABLE),
                pace=Pace(rate),
                resources=RESOURCES,
            )
            parity = compare_platform(
                platform=platform, api=AssayApi(http), report=self._report
            )
        except (ClientMissing, PlatformUnavailable) as error:
            raise CommandError(str(error)) from None
        made_at = timezone.now()
        store_parity_report(tenant=tenant, parity=parity, made_at=made_at)
        payload = parity.build_payload(made_at=made_at)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "parity.json", json.dumps(payload, indent=2) + "\n")
        page = render_to_string("users/parity_report.html", {"report": payload})
        _write(folder / "parity.html", page)
        for name, each in payload["resources"].items():
            explained = sum(each["explained"].values())
            self.stdout.write(
                f"{name}: {each['theirs']} there, {each['ours']} here,"
                f" {each['equal']} equal, {explained} explained,"
                f" {each['unexplained']} unexplained"
            )
        if parity.unexplained:
            raise CommandError(f"{parity.unexplained} differences are unexplained.")
        self.stdout.write("No difference is unexplained.")

    def _report(self, parity: Parity) -> None:
        if parity.users % 50 == 0:
            self.stdout.write(f"{parity.users} users")
            self.stdout.flush()


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
