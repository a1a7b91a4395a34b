"""`manage.py isolation_report`: call every endpoint as callers without access."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.states import Environment
from portal.ops.isolation.probing import create_isolation_report, find_tenant_to_probe
from users.store.distribution import list_distributed_tables

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py isolation_report [--team SLUG] [--environment production]`."""

    help = (
        "Call every URL that names a row with IDs of a team as another team, the"
        " other environment and each role that may not, and write down what came of"
        " it. All of it is rolled back. Exits 1 when a call was not refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--team", metavar="SLUG", help="whose ids (the team with most users)"
        )
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant_to_probe(
            environment=options["environment"], slug=options["team"] or ""
        )
        if tenant is None:
            raise CommandError("No team with this slug.")
        run = create_isolation_report(
            tenant=tenant, report_progress=lambda step: self.stderr.write(f"{step} ...")
        )
        self.stdout.write(
            f"{run.endpoints} endpoints and {run.callers} callers with IDs of"
            f" {run.team}, {run.environment}: {run.refused} calls refused,"
            f" {len(run.open)} not; {run.rows} rows of {run.tables} tables hidden."
        )
        for sweep, number in sorted(run.refusals.items()):
            self.stdout.write(f"  {sweep}: {number}")
        if run.skipped:
            self.stdout.write(
                f"  skipped because the team has no row for them: {len(run.skipped)}"
            )
        if distributed := list_distributed_tables():
            self.stdout.write(
                "  without a policy, as they are distributed, and read only with a user"
                f" found in a table that has one: {', '.join(distributed)}"
            )
        for who, method, route, status in run.open:
            self.stdout.write(f"NOT REFUSED  {who}: {method} {route} answered {status}")
        if run.open:
            sys.exit(1)
