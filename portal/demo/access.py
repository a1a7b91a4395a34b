"""Make the demo's sign-ins and API keys work: those of the last run, else new ones."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import ApiKey, Member
from accounts.operations.api_keys.api_keys import (
    create_api_key,
    find_api_key_grant,
    revoke_api_key,
)
from portal.demo.notes import DemoNotes
from portal.lib.actor import Actor
from portal.lib.tenancy import across_tenants, acting_for

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.demo.data import DemoTeams

OPERATOR_EMAIL = "operator@assay.example"
OPERATOR_NAME = "Casey Operator"
KEY_LABEL = "Demo"
# No letter or digit that reads as another: the password is typed from a terminal.
TYPED_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PASSWORD_GROUPS = 4
PASSWORD_GROUP_LENGTH = 4


def ensure_demo_sign_ins_and_api_keys(
    *, teams: DemoTeams, kept: DemoNotes, address: str
) -> DemoNotes:
    """Make the sign-ins of owner and operator and the API keys work, and return them.

    A lost password or key is replaced, and the key it replaces revoked.
    Source: Ours: running again changes nothing that was printed before.
    """
    return DemoNotes(
        address=address,
        email=teams.owner.email,
        password=_set_password(teams.owner, kept.password),
        operator_email=OPERATOR_EMAIL,
        operator_password=_set_password(_find_operator(), kept.operator_password),
        api_keys={
            tenant.team.slug: _api_key(tenant, kept.api_keys.get(tenant.team.slug, ""))
            for tenant in teams.sandboxes
        },
    )


def _find_operator() -> Member:
    found = Member.objects.filter(email=OPERATOR_EMAIL).first()
    if found is None:
        found = Member.objects.create_superuser(
            OPERATOR_EMAIL, _new_password(), name=OPERATOR_NAME
        )
    return found


def _set_password(member: Member, stored: str) -> str:
    """Set the stored password, or a new one where none is stored, and return it."""
    if stored and member.check_password(stored):
        return stored
    password = stored or _new_password()
    member.set_password(password)
    member.email_confirmed_at = timezone.now()
    member.save(update_fields=["password", "email_confirmed_at"])
    return password


def _new_password() -> str:
    return "-".join(
        "".join(secrets.choice(TYPED_LETTERS) for _ in range(PASSWORD_GROUP_LENGTH))
        for _ in range(PASSWORD_GROUPS)
    )


def _api_key(tenant: Tenant, stored: str) -> str:
    with across_tenants(why="a key tells its tenant only once it is found"):
        grant = find_api_key_grant(stored) if stored else None
    if grant is not None and grant.tenant.pk == tenant.pk:
        return stored
    actor = Actor.system("demo")
    with acting_for(tenant), transaction.atomic():
        lost = ApiKey.objects.for_tenant(tenant).filter(
            label=KEY_LABEL, revoked_at=None
        )
        for key in lost:
            revoke_api_key(key=key, actor=actor)
        _, text = create_api_key(tenant=tenant, actor=actor, label=KEY_LABEL)
    return text
