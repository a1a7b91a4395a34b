"""Try the checks of a production environment again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.go_live import list_go_live_checks
from accounts.models import GoLiveTry
from accounts.operations.audit.entries import record_change
from portal.lib.actor import ActorKind
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor


def try_go_live_checks(*, tenant: Tenant, actor: Actor, name: str = "") -> None:
    """Try one check, or all of them, and keep what each found.

    Checks run outside a transaction: some call other servers. Each bounds its own time.
    Raises: go_live_in_sandbox; go_live_check_not_found (404). Source: Ours.
    """
    if tenant.is_sandbox:
        raise DomainError(
            "go_live_in_sandbox", _("The sandbox needs no set-up to go live.")
        )
    checks = [each for each in list_go_live_checks() if name in {"", each.name}]
    if not checks:
        raise NotFound("go_live_check_not_found", _("No check has this name."))
    found = {
        check.name: result
        for check in checks
        if check.attempt and (result := check.attempt(tenant, actor))
    }
    with transaction.atomic():
        for each, result in found.items():
            GoLiveTry.objects.for_tenant(tenant).update_or_create(
                tenant=tenant,
                name=each,
                defaults={
                    "code": result.code,
                    "figures": dict(result.figures),
                    "tried_at": timezone.now(),
                    "member_id": (
                        actor.key if actor.kind is ActorKind.MEMBER else None
                    ),
                },
            )
        record_change(
            tenant=tenant,
            actor=actor,
            verb="try_go_live_checks",
            subject="go_live",
            subject_id=name or "all",
            changes={each: [None, result.code] for each, result in found.items()},
        )
