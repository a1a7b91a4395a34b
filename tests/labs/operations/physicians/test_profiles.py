from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import date
from io import BytesIO

import pytest
from PIL import Image

from accounts.states import Role
from labs.models import Physician
from labs.operations.physicians.profiles import (
    PhysicianProfile,
    save_physician_profile,
)
from portal.lib.errors import DomainError, NotAllowed
from tests.audit import changes_of
from tests.factories.accounts import make_member
from tests.factories.physicians import actor_of, make_physician, make_signature

pytestmark = pytest.mark.django_db
PROFILE = PhysicianProfile(
    first_name="Vera",
    last_name="Example",
    npi="1234567893",
    licensed_states=("NM", "AZ"),
    signature=make_signature(),
)


@pytest.fixture
def vera(alice_team):
    return make_member(team=alice_team, roles=(Role.PHYSICIAN,), email="v@a.example")


def save(tenant, member, **changes):
    return save_physician_profile(
        tenant=tenant, actor=actor_of(member), profile=replace(PROFILE, **changes)
    )


def test_a_profile_is_stored_and_the_audit_names_fields_only(alice_tenant, vera):
    save(alice_tenant, vera)

    stored = Physician.objects.for_tenant(alice_tenant).get()
    assert (stored.member, stored.name, stored.npi) == (
        vera,
        "Vera Example",
        "1234567893",
    )
    assert stored.licensed_states == ["AZ", "NM"]
    assert changes_of(alice_tenant, "save_physician")["fields"] == [
        *("away_from", "away_until", "first_name", "last_name", "licensed_states"),
        *("npi", "signature", "stand_in_id"),
    ]


def test_a_signature_is_drawn_anew_and_stays_until_another_comes(alice_tenant, vera):
    photo = BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    Image.new("RGB", (3000, 1000), "white").save(photo, "JPEG", exif=exif)

    first = save(alice_tenant, vera, signature=photo.getvalue())
    kept = save(alice_tenant, vera, signature=None)

    assert b"taken at home" in photo.getvalue()
    assert b"taken at home" not in first.signature
    with Image.open(BytesIO(first.signature)) as drawn:
        assert (drawn.format, drawn.width <= 1200, drawn.height <= 204) == (
            "PNG",
            True,
            True,
        )
    assert bytes(kept.signature) == first.signature


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"npi": "1234567890"}, "npi_invalid"),
        ({"licensed_states": ()}, "states_invalid"),
        ({"licensed_states": ("AZ", "XX")}, "states_invalid"),
        ({"signature": b"%PDF-1.7"}, "signature_invalid"),
        ({"signature": make_signature((5000, 1000))}, "signature_invalid"),
        ({"signature": b"\x89PNG\r\n\x1a\n" + bytes(2_000_000)}, "signature_invalid"),
        ({"away_from": date(2026, 12, 1)}, "stand_in_incomplete"),
        (
            {
                "stand_in_id": uuid.UUID(int=1),
                "away_from": date(2026, 12, 2),
                "away_until": date(2026, 12, 1),
            },
            "away_dates_reversed",
        ),
        (
            {
                "stand_in_id": uuid.UUID(int=1),
                "away_from": date(2026, 12, 1),
                "away_until": date(2026, 12, 1),
            },
            "stand_in_unknown",
        ),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_stored(
    alice_tenant, vera, changes, code
):
    with pytest.raises(DomainError) as refusal:
        save(alice_tenant, vera, **changes)

    assert refusal.value.code == code
    assert not Physician.objects.for_tenant(alice_tenant).exists()


def test_an_npi_is_one_physicians_and_nobody_stands_in_for_themselves(
    alice_tenant, vera
):
    make_physician(tenant=alice_tenant)
    with pytest.raises(DomainError) as taken:
        save(alice_tenant, vera)
    own = save(alice_tenant, vera, npi="1245319599")
    day = date(2026, 12, 1)
    with pytest.raises(DomainError) as themselves:
        save(
            alice_tenant,
            vera,
            npi="1245319599",
            stand_in_id=own.pk,
            away_from=day,
            away_until=day,
        )

    assert (taken.value.code, themselves.value.code) == (
        "npi_taken",
        "stand_in_unknown",
    )


def test_an_owner_without_the_role_has_no_profile(alice_tenant, alice):
    with pytest.raises(NotAllowed) as refusal:
        save(alice_tenant, alice)

    assert refusal.value.code == "not_a_physician"
    assert not Physician.objects.for_tenant(alice_tenant).exists()
