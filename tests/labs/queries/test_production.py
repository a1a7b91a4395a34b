from __future__ import annotations

import pytest

from labs.queries.production import has_service_centers, list_production_gaps
from tests.factories.appointments import make_center
from tests.factories.labs import make_lab, make_lab_account

pytestmark = pytest.mark.django_db

DELEGATED = "order_delegated"


def gaps(tenant):
    return {
        one.lab.slug: list(map(str, one.gaps))
        for one in list_production_gaps(tenant=tenant)
    }


def test_each_lab_says_what_nobody_set_up(
    alice_production, settings, django_assert_num_queries
):
    bare = make_lab("bare", tenant=alice_production)
    whole = make_lab("whole", tenant=alice_production)
    kits = make_lab("kits", tenant=alice_production)
    kits.collection_methods = ["testkit"]
    kits.save()
    make_lab_account(tenant=alice_production, lab=whole, delegated_flow=DELEGATED)
    make_lab_account(tenant=alice_production, lab=kits)
    make_lab_account(tenant=alice_production, lab=bare, status="pending")
    make_center(lab=whole)
    make_center(lab=bare, is_active=False)

    with django_assert_num_queries(3):
        found = gaps(alice_production)

    assert found == {
        "bare": ["lab_account_required", "directory_required"],
        "kits": ["physician_required"],
        "whole": [],
    }
    assert has_service_centers(tenant=alice_production, lab_slugs=["bare", "whole"])
    assert not has_service_centers(tenant=alice_production, lab_slugs=["bare"])
    settings.LAB_GATEWAY = ""
    assert gaps(alice_production)["whole"] == ["lab_gateway_required"]


def test_a_sandbox_lacks_nothing(alice_tenant, settings):
    settings.LAB_GATEWAY = ""

    found = gaps(alice_tenant)

    assert found["quest"] == []
    assert not any(found.values())
