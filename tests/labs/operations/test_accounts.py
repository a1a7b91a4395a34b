from __future__ import annotations

import pytest

from labs.models import LabAccount, LabAccountTeam
from labs.operations.account_choice import (
    resolve_lab_account,
    resolve_lab_account_of_import,
)
from labs.operations.accounts import (
    LabAccountRequest,
    change_lab_account_status,
    create_lab_account,
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
        ({"held_lines_answer": "AR"}, "held_lines_answer_unknown"),
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
