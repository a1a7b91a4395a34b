from __future__ import annotations

import pytest

from accounts.declarations.demo_data import DemoScene
from labs.demo.accounts import load_demo_lab_accounts
from labs.models import Lab, LabAccount, LabTest
from labs.operations.account_choice import (
    resolve_lab_account,
)
from labs.states.accounts import US_STATES, AccountReason, LabAccountStatus
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_account
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db


def load(tenant):
    load_demo_lab_accounts(DemoScene(tenant=tenant, actor=ACTOR, people=()))


def accounts(tenant):
    rows = LabAccount.objects.linked_to(tenant).select_related("lab")
    return {account.lab.slug: account for account in rows}


def test_a_sandbox_has_active_accounts_and_one_that_waits(alice_tenant):
    load(alice_tenant)

    found = accounts(alice_tenant)
    assert {slug: account.status for slug, account in found.items()} == {
        "quest": LabAccountStatus.ACTIVE,
        "sonora_quest": LabAccountStatus.ACTIVE,
        "labcorp": LabAccountStatus.PENDING,
    }
    for account in found.values():
        assert account.delegated_flow == "not_delegated"
        assert account.allowed_billing == {"client_bill": sorted(US_STATES)}


def test_each_demo_account_is_of_a_lab_with_a_walk_in_panel(alice_tenant):
    load(alice_tenant)

    walk_in = LabTest.objects.for_tenant(alice_tenant).filter(
        method=CollectionMethod.WALK_IN_TEST
    )
    labs = set(walk_in.values_list("lab__slug", flat=True))
    assert set(accounts(alice_tenant)) <= labs


def test_an_order_finds_the_demo_account_by_itself(alice_tenant):
    load(alice_tenant)

    found = resolve_lab_account(tenant=alice_tenant, lab=Lab.objects.get(slug="quest"))

    assert found.reason == AccountReason.ONLY_ACTIVE


def test_loading_again_changes_nothing(alice_tenant):
    load(alice_tenant)
    before = holdings(alice_tenant)

    load(alice_tenant)

    assert holdings(alice_tenant) == before


def test_a_lab_with_an_account_of_ones_own_is_left_alone(alice_tenant):
    own = make_lab_account(tenant=alice_tenant, lab=Lab.objects.get(slug="quest"))

    load(alice_tenant)

    found = LabAccount.objects.linked_to(alice_tenant).filter(lab__slug="quest")
    assert list(found) == [own]
