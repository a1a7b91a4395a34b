from __future__ import annotations

import pytest

from labs.models import Lab
from tests.factories.labs import make_lab

PLACE = "/t/alice-health/production/"

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("page", ["lab-tests/", "lab-tests/markers/"])
def test_production_without_labs_says_who_brings_them(
    alice_web, alice_production, page
):
    Lab.objects.filter(environment="production").delete()
    empty = alice_web.get(f"{PLACE}{page}").content.decode()
    make_lab(tenant=alice_production)
    with_a_lab = alice_web.get(f"{PLACE}{page}").content.decode()

    assert "import_lab_catalogue" in empty
    assert "import_lab_catalogue" not in with_a_lab


def test_production_without_lab_account_says_that_orders_are_refused(
    alice_web, alice_production
):
    production = alice_web.get(f"{PLACE}lab-accounts/").content.decode()
    sandbox = alice_web.get("/t/alice-health/sandbox/lab-accounts/").content.decode()

    assert "Orders are refused until" in production
    assert "platform" not in production
    assert "platform" in sandbox
