from __future__ import annotations

from uuid import uuid4

import pytest

from labs.models import LabAccount, LabAccountTeam
from labs.operations.accounts import (
    LabAccountRequest,
    change_lab_account_status,
    create_lab_account,
    list_lab_account_options_by_lab,
    require_billing_type_allowed,
    resolve_lab_account,
    resolve_lab_account_of_import,
    resolve_other_lab_account,
    set_lab_account_teams,
    update_lab_account,
)
from labs.states.accounts import LAB_ACCOUNT_MOVES, LabAccountStatus
from portal.lib.errors import NotFound
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR, make_team
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


def request(**wanted):
    return LabAccountRequest(**{"provider_account_id": "20931", **wanted})


def test_a_new_account_is_pending_and_linked_to_its_team(alice_tenant):
    lab = make_lab()

    account = create_lab_account(
        tenant=alice_tenant,
        actor=ACTOR,
        lab=lab,
        request=request(
            provider_account_id=" 20931 ", allowed_billing={"client_bill": ["tx", "AZ"]}
        ),
    )

    kept = LabAccount.objects.linked_to(alice_tenant).get()
    assert kept == account
    assert (kept.status, kept.provider_account_id) == (PENDING, "20931")
    assert kept.allowed_billing == {"client_bill": ["AZ", "TX"]}
    assert audited(alice_tenant) == [
        ("create_lab_account", "lab_account", str(account.pk))
    ]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"provider_account_id": " "}, "account_number_missing"),
        ({"provider_account_id": "1" * 51}, "account_number_too_long"),
        ({"account_name": "n" * 151}, "account_name_too_long"),
        ({"default_clinical_notes": "n" * 1001}, "default_notes_too_long"),
        ({"delegated_flow": "nobody"}, "delegated_flow_unknown"),
        ({"allowed_billing": {"barter": ["AZ"]}}, "billing_unknown"),
        ({"allowed_billing": {"client_bill": ["ZZ"]}}, "state_unknown"),
    ],
)
def test_a_bad_account_is_refused(alice_tenant, wanted, code):
    lab = make_lab()

    with refused(alice_tenant, code):
        create_lab_account(
            tenant=alice_tenant, actor=ACTOR, lab=lab, request=request(**wanted)
        )


def test_one_number_at_one_lab_is_one_account(alice_tenant, alice_production):
    lab = make_lab()
    make_lab_account(tenant=alice_tenant, lab=lab, provider_account_id="20931")

    with refused(alice_tenant, "account_number_taken"):
        create_lab_account(tenant=alice_tenant, actor=ACTOR, lab=lab, request=request())
    live = make_lab(tenant=alice_production)
    for tenant, of in ((alice_production, lab), (alice_tenant, live)):
        with refused(tenant, "lab_not_found"):
            create_lab_account(tenant=tenant, actor=ACTOR, lab=of, request=request())
    create_lab_account(
        tenant=alice_production, actor=ACTOR, lab=live, request=request()
    )


def test_a_change_says_what_it_changed(alice_tenant):
    account = make_lab_account(
        tenant=alice_tenant, lab=make_lab(), account_name="North"
    )

    update_lab_account(
        tenant=alice_tenant,
        actor=ACTOR,
        account=account,
        request=request(
            provider_account_id=account.provider_account_id,
            account_name="South",
            allowed_billing=account.allowed_billing,
        ),
    )

    assert changes_of(alice_tenant, "change_lab_account") == {
        "account_name": ["North", "South"]
    }


@pytest.mark.parametrize("new", LabAccountStatus)
@pytest.mark.parametrize("old", LabAccountStatus)
def test_an_account_moves_as_its_table_says_and_not_otherwise(alice_tenant, old, new):
    account = make_lab_account(tenant=alice_tenant, lab=make_lab(), status=old)

    if LAB_ACCOUNT_MOVES.allows(old, new):
        change_lab_account_status(
            tenant=alice_tenant, actor=ACTOR, account=account, to=new
        )
        kept = LabAccount.objects.linked_to(alice_tenant).get()
        assert kept.status == new
        assert changes_of(alice_tenant, "move_lab_account") == {"status": [old, new]}
    else:
        with refused(alice_tenant, "transition_not_allowed"):
            change_lab_account_status(
                tenant=alice_tenant, actor=ACTOR, account=account, to=new
            )


def test_accounts_are_linked_to_teams_of_their_organisation_only(
    alice_tenant, charlie_team
):
    account = make_lab_account(tenant=alice_tenant, lab=make_lab())
    sister = make_team()
    sister.organisation = alice_tenant.team.organisation
    sister.save(update_fields=["organisation"])

    set_lab_account_teams(
        tenant=alice_tenant,
        actor=ACTOR,
        account=account,
        team_ids=[alice_tenant.team_id, sister.pk],
    )
    with refused(alice_tenant, "team_unknown"):
        set_lab_account_teams(
            tenant=alice_tenant,
            actor=ACTOR,
            account=account,
            team_ids=[charlie_team.pk],
        )

    linked = LabAccountTeam.objects.filter(account=account)
    assert set(linked.values_list("team_id", flat=True)) == {
        alice_tenant.team_id,
        sister.pk,
    }


def test_an_account_of_strangers_cannot_be_changed(alice_tenant, charlie_tenant):
    account = make_lab_account(tenant=charlie_tenant, lab=make_lab())

    with refused(charlie_tenant, "lab_account_not_found") as caught:
        change_lab_account_status(
            tenant=alice_tenant, actor=ACTOR, account=account, to=SUSPENDED
        )

    assert isinstance(caught.value, NotFound)


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
