from __future__ import annotations

import pytest

from accounts.operations.teams.teams import change_team_settings
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab, make_lab_account

pytestmark = pytest.mark.django_db


def test_a_key_reads_its_own_team(alice_api, alice_tenant):
    make_lab_account(
        tenant=alice_tenant, lab=make_lab(), delegated_flow="fully_delegated"
    )
    change_team_settings(
        tenant=alice_tenant,
        actor=ACTOR,
        settings={"lab_tests_patient_sms_communication_enabled": False},
    )

    reply = alice_api.get(f"/v2/team/{alice_tenant.team_id}")

    check_answer(reply, "get", "/v2/team/{team_id}")
    assert reply.json() == {
        "id": str(alice_tenant.team_id),
        "org_id": str(alice_tenant.team.organisation_id),
        "name": "Alice Health",
        "testkits_texts_enabled": False,
        "lab_tests_patient_communication_enabled": True,
        "lab_tests_patient_sms_communication_enabled": False,
        "lab_tests_patient_email_communication_enabled": True,
        "delegated_flow": "fully_delegated",
        "logo_url": None,
        "critical_result_notification_email": None,
    }


@pytest.mark.parametrize("flows", [[], ["order_delegated", "result_delegated"]])
def test_accounts_that_do_not_agree_delegate_nothing(alice_api, alice_tenant, flows):
    for flow in flows:
        make_lab_account(tenant=alice_tenant, lab=make_lab(), delegated_flow=flow)

    reply = alice_api.get(f"/v2/team/{alice_tenant.team_id}")

    assert reply.json()["delegated_flow"] == "not_delegated"
