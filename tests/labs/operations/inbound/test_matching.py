from __future__ import annotations

import pytest

from labs.operations.inbound.matching import list_candidate_orders_for_lab_report
from labs.operations.inbound.review import parse_stored_lab_report
from labs.states.inbound import Agreement
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, take
from tests.factories.labs import PATIENT, make_order
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db


def test_candidates_are_weighed_by_what_speaks_for_each(alice_tenant):
    same = make_order_sent_to_lab(tenant=alice_tenant)
    panel = same.lab_test
    numbered = make_order(
        tenant=alice_tenant,
        lab_test=panel,
        patient_details={**PATIENT, "last_name": "Other", "dob": "1970-01-01"},
    )
    born = make_order(
        tenant=alice_tenant,
        lab_test=panel,
        patient_details={**PATIENT, "last_name": "Else", "gender": "male"},
    )
    deleted = make_order(tenant=alice_tenant, lab_test=panel)
    delete_user(user=deleted.user, actor=ACTOR)
    make_order_sent_to_lab(tenant=alice_tenant)  # at another lab
    content = make_oru(make_test(obx(), placer=str(numbered.pk)))
    row = take(alice_tenant, content, lab=same.lab).reports.get()
    row.tenant = alice_tenant

    found = list_candidate_orders_for_lab_report(
        tenant=alice_tenant,
        lab=same.lab,
        account=None,
        report=parse_stored_lab_report(row),
    )

    assert [one.order.pk for one in found] == [same.pk, numbered.pk, born.pk]
    first, second, third = (one.evidence for one in found)
    assert first.is_same_person
    assert first.number is Agreement.DIFFERS
    assert (second.number, second.name) == (Agreement.AGREES, Agreement.DIFFERS)
    assert (third.birth_date, third.sex) == (Agreement.AGREES, Agreement.DIFFERS)
    assert {one.tests for one in (first, second, third)} == {Agreement.AGREES}
