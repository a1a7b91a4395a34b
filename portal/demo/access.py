"""Demo's sign-in and API keys: those of the notes where the database agrees, else new.

Must not be here: the people and data themselves (portal.demo.data).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import ApiKey
from accounts.operations.api_keys import create_api_key, find_grant, revoke_api_key
from portal.demo.notes import DemoNotes
from portal.lib.actor import Actor
from portal.lib.tenancy import across_tenants, acting_for

if TYPE_CHECKING:
    from accounts.models import Member, Tenant
    from portal.demo.data import DemoTeams

KEY_LABEL = "Demo"
# No letter or digit that reads as another: the password is typed from a terminal.
TYPED_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PASSWORD_GROUPS = 4
PASSWORD_GROUP_LENGTH = 4


def give_access(*, teams: DemoTeams, kept: DemoNotes, address: str) -> DemoNotes:
    """Make sign-in and keys work, and return them as notes.

    A lost password or key is replaced, and the key it replaces revoked.
    Source: Ours: running again changes nothing that was printed before.
    """
    return DemoNotes(
        address=address,
        email=teams.owner.email,
        password=_password(teams.owner, kept.password),
        api_keys={
            tenant.team.slug: _api_key(tenant, kept.api_keys.get(tenant.team.slug, ""))
            for tenant in teams.sandboxes
        },
    )


def _password(owner: Member, kept: str) -> str:
    if kept and owner.check_password(kept):
        return kept
    password = kept or _new_password()
    owner.set_password(password)
    owner.email_confirmed_at = timezone.now()
    owner.save(update_fields=["password", "email_confirmed_at"])
    return password


def _new_password() -> str:
    return "-".join(
        "".join(secrets.choice(TYPED_LETTERS) for _ in range(PASSWORD_GROUP_LENGTH))
        for _ in range(PASSWORD_GROUPS)
    )


def _api_key(tenant: Tenant, kept: str) -> str:
    with across_tenants(why="a key tells its tenant only once it is found"):
        grant = find_grant(kept) if kept else None
    if grant is not None and grant.tenant.pk == tenant.pk:
        return kept
    actor = Actor.system("demo")
    with acting_for(tenant), transaction.atomic():
        lost = ApiKey.objects.for_tenant(tenant).filter(
            label=KEY_LABEL, revoked_at=None
        )
        for key in lost:
            revoke_api_key(key=key, actor=actor)
        _, text = create_api_key(tenant=tenant, actor=actor, label=KEY_LABEL)
    return text
