"""Verify each team's audit chain against its anchors."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.operations.audit.chain import (
    Anchor,
    check_audit_chain,
    read_audit_anchors,
)
from accounts.operations.audit.tampering import (
    describe_missing_audited_tenant,
    find_unprotected_audit_tables,
)
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py verify_audit [--team SLUG] [--anchors FILE]`; exits 1 if broken."""

    help = (
        "Recompute the audit's hash chain, compare it with the "
        "recorded anchors, and print the first entry that does not "
        "match and any missing protection of the audit tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", metavar="SLUG", help="check only this team")
        parser.add_argument(
            "--anchors",
            type=Path,
            metavar="FILE",
            help="a copy of the anchors or a log with them; default: AUDIT_ANCHORS",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = Tenant.objects.select_related("team").order_by("team__slug", "pk")
        if options["team"]:
            tenants = tenants.filter(team__slug=options["team"])
            if not tenants:
                raise CommandError(f"No team has the slug {options['team']}.")
        path: Path | None = options["anchors"]
        if path is not None and not path.exists():
            raise CommandError(f"{path}: file not found.")
        anchors: dict[int, list[Anchor]] = defaultdict(list)
        for anchor in read_audit_anchors(path):
            anchors[anchor.tenant].append(anchor)
        broken = 0
        for phrase in find_unprotected_audit_tables():
            broken += 1
            self.stderr.write(f"BROKEN: {phrase}.")
        for tenant in tenants:
            with across_tenants(why="up to where entries are sealed, any team's say"):
                checked = check_audit_chain(
                    tenant=tenant, anchors=anchors.pop(tenant.pk, [])
                )
            place = f"{tenant.team.slug} {tenant.environment}"
            if checked.broken:
                broken += 1
                self.stderr.write(f"{place}: BROKEN: {checked.broken.says}.")
                continue
            self.stdout.write(
                f"{place}: {checked.entries} entries in {checked.seals} seals"
                f" and {checked.anchors} anchors match."
            )
        if not options["team"]:
            for tenant_pk, written in sorted(anchors.items()):
                broken += 1
                reason = describe_missing_audited_tenant(written[-1]).says
                self.stderr.write(f"tenant {tenant_pk}: BROKEN: {reason}.")
        if broken:
            raise CommandError(f"Audits that do not match: {broken}.")
