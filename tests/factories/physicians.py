"""Physicians of a team for tests; the people are made up."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from accounts.states import Role
from labs.models import Physician
from labs.operations.physicians.profiles import (
    PhysicianProfile,
    save_physician_profile,
)
from portal.lib.actor import Actor, ActorKind
from tests.factories.accounts import make_member


def make_signature(size: tuple[int, int] = (300, 60)) -> bytes:
    """A PNG with a stroke of ink on nothing."""
    picture = Image.new("RGBA", size)
    ImageDraw.Draw(picture).line((10, 50, 120, 10, 280, 40), fill="black", width=4)
    out = BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def actor_of(member: Any) -> Actor:
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def make_physician(
    *,
    tenant: Any,
    npi: str = "1234567893",
    name: str = "Vera Example",
    states: tuple[str, ...] = ("AZ",),
    member: Any = None,
    **fields: Any,
) -> Physician:
    """A member with the role and a complete profile."""
    first, _, last = name.partition(" ")
    member = member or make_member(
        team=tenant.team, roles=(Role.PHYSICIAN,), email=f"{npi}@assay.example"
    )
    return save_physician_profile(
        tenant=tenant,
        actor=actor_of(member),
        profile=PhysicianProfile(
            **{
                "first_name": first,
                "last_name": last,
                "npi": npi,
                "licensed_states": states,
                "signature": make_signature(),
                **fields,
            }
        ),
    )


def require_approval(tenant: Any) -> None:
    tenant.order_approval_enabled = True
    tenant.save(update_fields=["order_approval_enabled"])
