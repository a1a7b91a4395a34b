from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labs.operations.appointments.booking_keys import BookingKeys
from labs.queries.appointments.bookable_sites import (
    build_bookable_center_site,
    build_home_visit_site,
)
from portal.lib.errors import DomainError
from tests.factories.appointments import HOME, make_center

START = datetime(2026, 3, 2, 17, tzinfo=UTC)
UNTIL = datetime(2026, 3, 2, 16, 15, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def test_a_key_brings_its_slot_back(alice_tenant):
    site = build_bookable_center_site(make_center(), "quest")
    keys = BookingKeys(alice_tenant)

    slot = keys.read(keys.write(site, START, UNTIL))

    assert (slot.site, slot.start, slot.expires_at) == (site, START, UNTIL)
    assert (slot.end - slot.start).total_seconds() == 1200


def test_a_key_of_a_home_carries_its_address(alice_tenant):
    site = build_home_visit_site("getlabs", {**HOME, "access_notes": "Ring twice"})
    keys = BookingKeys(alice_tenant)

    slot = keys.read(keys.write(site, START, UNTIL))

    assert slot.site == site
    assert slot.site.address["access_notes"] == "Ring twice"


def test_every_change_to_a_key_is_found(alice_tenant):
    keys = BookingKeys(alice_tenant)
    key = keys.write(build_bookable_center_site(make_center(), "quest"), START, UNTIL)

    for place in range(0, len(key), 7):
        other = "A" if key[place] != "A" else "B"
        with pytest.raises(DomainError) as refused:
            keys.read(key[:place] + other + key[place + 1 :])
        assert refused.value.code == "booking_key_invalid"
