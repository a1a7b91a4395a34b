from __future__ import annotations

from uuid import uuid4

import pytest

from labs.operations.account_choice import (
    list_lab_account_options_by_lab,
    require_billing_type_allowed,
    resolve_lab_account,
    resolve_lab_account_of_import,
    resolve_other_lab_account,
)
from labs.states.accounts import LabAccountStatus
from tests.factories.labs import make_lab, make_lab_account
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db

PENDING, READY, ACTIVE, SUSPENDED = (
    LabAccountStatus.PENDING,
    LabAccountStatus.READY_TO_LAUNCH,
    LabAccountStatus.ACTIVE,
    LabAccountStatus.SUSPENDED,
)
PLACING, IMPORTING = resolve_lab_account, resolve_lab_account_of_import


@pytest.mark.parametrize(
    ("statuses", "resolve", "chosen", "reason"),
    [
        ([], PLACING, None, "platform"),
        ([ACTIVE], PLACING, 0, "only_active"),
        ([PENDING, ACTIVE, SUSPENDED], PLACING, 1, "only_active"),
        ([PENDING], IMPORTING, 0, "only_opening"),
        ([SUSPENDED, READY], IMPORTING, 1, "only_opening"),
        ([ACTIVE, PENDING], IMPORTING, 0, "only_active"),
    ],
)
def test_the_one_possible_account_is_found_and_says_why(
    alice_tenant, statuses, resolve, chosen, reason
):
    lab = make_lab()
    accounts = [
        make_lab_account(tenant=alice_tenant, lab=lab, status=status)
        for status in statuses
    ]
    make_lab_account(tenant=alice_tenant, lab=make_lab())

    found = resolve(tenant=alice_tenant, lab=lab)

    assert found.account == (None if chosen is None else accounts[chosen])
    assert found.reason == reason


@pytest.mark.parametrize(
    ("statuses", "resolve", "code"),
    [
        ([ACTIVE, ACTIVE], PLACING, "lab_account_ambiguous"),
        ([ACTIVE, ACTIVE], IMPORTING, "lab_account_ambiguous"),
        ([PENDING], PLACING, "lab_account_not_active"),
        ([READY], PLACING, "lab_account_not_active"),
        ([SUSPENDED], IMPORTING, "lab_account_not_active"),
        ([PENDING, READY], IMPORTING, "lab_account_ambiguous"),
        (["in_orbit"], IMPORTING, "lab_account_not_active"),
    ],
)
def test_no_account_is_guessed(alice_tenant, statuses, resolve, code):
    lab = make_lab()
    for status in statuses:
        make_lab_account(tenant=alice_tenant, lab=lab, status=status)

    with refused(alice_tenant, code):
        resolve(tenant=alice_tenant, lab=lab)


@pytest.mark.parametrize(
    ("status", "resolve", "open_"),
    [
        (PENDING, PLACING, False),
        (PENDING, IMPORTING, True),
        (READY, IMPORTING, True),
        (ACTIVE, PLACING, True),
        (SUSPENDED, IMPORTING, False),
    ],
)
def test_a_given_account_must_be_open_for_it(alice_tenant, status, resolve, open_):
    lab = make_lab()
    account = make_lab_account(tenant=alice_tenant, lab=lab, status=status)

    if open_:
        found = resolve(tenant=alice_tenant, lab=lab, account_id=account.pk)
        assert (found.account, found.reason) == (account, "given")
    else:
        with refused(alice_tenant, "lab_account_not_active"):
            resolve(tenant=alice_tenant, lab=lab, account_id=account.pk)


def test_a_given_account_must_be_of_the_orders_lab(alice_tenant):
    account = make_lab_account(tenant=alice_tenant, lab=make_lab())

    with refused(alice_tenant, "lab_account_of_other_lab"):
        resolve_lab_account(tenant=alice_tenant, lab=make_lab(), account_id=account.pk)


def test_accounts_of_strangers_and_of_the_other_environment_are_not_found(
    alice_tenant, alice_production, charlie_tenant
):
    lab = make_lab()
    others = [
        make_lab_account(tenant=alice_production, lab=lab).pk,
        make_lab_account(tenant=charlie_tenant, lab=lab).pk,
        uuid4(),
    ]

    for other in others:
        with refused(alice_tenant, "lab_account_not_found"):
            resolve_lab_account(tenant=alice_tenant, lab=lab, account_id=other)
    assert resolve_lab_account(tenant=alice_tenant, lab=lab).account is None


def test_the_account_that_was_wrong_is_never_carried_over(alice_tenant):
    lab = make_lab()
    wrong = make_lab_account(tenant=alice_tenant, lab=lab)
    platform = resolve_other_lab_account(tenant=alice_tenant, lab=lab, wrong=wrong)
    other = make_lab_account(tenant=alice_tenant, lab=lab)

    found = resolve_other_lab_account(tenant=alice_tenant, lab=lab, wrong=wrong)
    with refused(alice_tenant, "lab_account_incorrect"):
        resolve_other_lab_account(
            tenant=alice_tenant, lab=lab, account_id=wrong.pk, wrong=wrong
        )

    assert (platform.account, platform.reason) == (None, "platform_instead")
    assert (found.account, found.reason) == (other, "other_active")


def test_only_inactive_others_are_no_way_out(alice_tenant):
    lab = make_lab()
    wrong = make_lab_account(tenant=alice_tenant, lab=lab)
    make_lab_account(tenant=alice_tenant, lab=lab, status=SUSPENDED)

    with refused(alice_tenant, "lab_account_not_active"):
        resolve_other_lab_account(tenant=alice_tenant, lab=lab, wrong=wrong)


def test_who_pays_must_be_allowed_in_the_patients_state(alice_tenant):
    account = make_lab_account(
        tenant=alice_tenant, lab=make_lab(), allowed_billing={"client_bill": ["AZ"]}
    )

    require_billing_type_allowed(
        account=account, billing_type="client_bill", state="az"
    )
    require_billing_type_allowed(account=None, billing_type="patient_bill", state="TX")
    for billing, state in (("client_bill", "TX"), ("patient_bill", "AZ")):
        with refused(alice_tenant, "billing_not_allowed"):
            require_billing_type_allowed(
                account=account, billing_type=billing, state=state
            )


def test_each_lab_says_which_account_an_order_would_get_and_why(
    alice_tenant, charlie_tenant, django_assert_num_queries
):
    one, two, none, foreign = (make_lab(name=f"Lab {n}") for n in "ABCD")
    active = make_lab_account(tenant=alice_tenant, lab=one)
    waits = make_lab_account(tenant=alice_tenant, lab=one, status=PENDING)
    either = [make_lab_account(tenant=alice_tenant, lab=two) for _ in range(2)]
    make_lab_account(tenant=alice_tenant, lab=none, status=SUSPENDED)
    make_lab_account(tenant=charlie_tenant, lab=foreign)

    with django_assert_num_queries(2):
        choices = list_lab_account_options_by_lab(tenant=alice_tenant)

    found = {choice.lab: choice for choice in choices}
    assert [choice.lab for choice in choices[:3]] == [one, two, none]
    assert found[one].accounts == (active, waits)
    assert (found[one].resolved.account, found[one].resolved.reason) == (
        active,
        "only_active",
    )
    assert found[two].accounts == tuple(either)
    assert found[two].resolved is None
    assert found[two].refusal.code == "lab_account_ambiguous"
    assert found[none].refusal.code == "lab_account_not_active"
    assert found[foreign].accounts == ()
    assert found[foreign].resolved.reason == "platform"
