from __future__ import annotations

from datetime import UTC, datetime

import pytest

from users.models import ParityReport
from users.operations.moving.parity import store_parity_report
from users.operations.moving.parity_counts import Difference, Parity

pytestmark = pytest.mark.django_db
PAGE = "/t/alice-health/sandbox/parity/"
AT = datetime(2026, 3, 9, 12, tzinfo=UTC)


def compared(unexplained):
    parity = Parity("open-wearables", users=2)
    counts = parity.of("sleep")
    counts.theirs, counts.ours, counts.equal = 3, 3, 3 - unexplained
    counts.explained["needs_consent"] = 1
    counts.converted["other_unit"] = 2
    counts.unexplained = parity.by_field["sleep", "efficiency"] = unexplained
    parity.listed.append(Difference("mbr_1", "sleep", "oura", "efficiency", 77.125, 1))
    return parity


def test_the_last_comparison_is_shown_in_numbers_and_as_json(
    alice_web, charlie_web, alice_tenant
):
    nothing = alice_web.get(PAGE)
    missing = alice_web.get(f"{PAGE}?format=json&platform=original")
    store_parity_report(tenant=alice_tenant, parity=compared(2), made_at=AT)
    store_parity_report(tenant=alice_tenant, parity=compared(1), made_at=AT)

    shown = alice_web.get(PAGE).content.decode()
    file = alice_web.get(f"{PAGE}?format=json&platform=open-wearables")
    stranger = charlie_web.get(PAGE)

    assert b"No comparison yet" in nothing.content
    assert missing.status_code == 404
    assert "1 difference is unexplained." in shown
    assert "efficiency" in shown
    assert "mbr_1" not in shown
    assert "77.125" not in shown
    assert file.json() == ParityReport.objects.for_tenant(alice_tenant).get().counts
    assert file.json()["fields"] == [
        {"resource": "sleep", "field": "efficiency", "count": 1}
    ]
    assert file.json()["rules"]["other_unit"]["count"] == 2
    assert "differences" not in file.json()
    assert stranger.status_code == 404
