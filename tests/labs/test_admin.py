from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from labs.models import LabTest
from labs.states.catalogue import LabTestStatus
from tests.factories.labs import make_lab_test
from tests.portal.ops.test_operators import (  # noqa: F401 - fixtures
    _fresh_counts,
    _one_half_minute,
    office,
    operator,
)

pytestmark = pytest.mark.django_db
PANELS = "/admin/labs/labtest/"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/admin/labs/lab/", "Quest Diagnostics"),
        ("/admin/labs/lab/1/change/", "Secaucus"),
        ("/admin/labs/marker/?q=10231", "Comprehensive metabolic panel"),
        ("/admin/labs/marker/1001/change/", "6399"),
        (PANELS, "Essential health"),
    ],
)
def test_the_catalogue_is_shown(office, alice_tenant, path, words):  # noqa: F811
    page = office.get(path)

    assert page.status_code == 200
    assert words in page.text


def test_an_operator_approves_panels_that_wait(office, operator, alice_tenant):  # noqa: F811
    waiting = make_lab_test(tenant=alice_tenant, status=LabTestStatus.PENDING_APPROVAL)
    archived = make_lab_test(tenant=alice_tenant, status=LabTestStatus.INACTIVE)

    page = office.post(
        PANELS,
        {"action": "approve", "_selected_action": [waiting.pk, archived.pk]},
        follow=True,
    )

    held = dict(LabTest.objects.for_tenant(alice_tenant).values_list("pk", "status"))
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="approve_lab_test")
    assert held[waiting.pk] == LabTestStatus.ACTIVE
    assert held[archived.pk] == LabTestStatus.INACTIVE
    assert (entry.subject_id, entry.actor_label) == (str(waiting.pk), operator.email)
    assert archived.name in page.text


def test_a_panel_is_opened_and_the_audit_knows(office, alice_tenant):  # noqa: F811
    panel = make_lab_test(tenant=alice_tenant)

    page = office.get(f"{PANELS}{panel.pk}/change/")

    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="read")
    assert page.status_code == 200
    assert (entry.subject, entry.subject_id) == ("labtest", str(panel.pk))
