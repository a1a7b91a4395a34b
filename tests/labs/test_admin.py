from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import AuditEntry
from labs.models import CatalogueUpdate, Lab, LabTest
from labs.operations.catalogue.catalogue_uploads import pack_catalogue_files
from labs.operations.catalogue.import_catalogue import check_catalogue_update
from labs.states.catalogue import LabTestStatus
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test
from tests.labs.operations.catalogue.conftest import with_changes
from tests.portal.ops.test_operators import (  # noqa: F401 - fixtures
    _fresh_counts,
    _one_half_minute,
    office,
    operator,
)

pytestmark = pytest.mark.django_db
PANELS = "/admin/labs/labtest/"
UPDATES = "/admin/labs/catalogueupdate/"


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


def test_an_operator_checks_files_and_applies_the_update(office, operator):  # noqa: F811
    def check(*changes):
        content = pack_catalogue_files(with_changes(*changes))
        file = SimpleUploadedFile("catalog.zip", content)
        return office.post(f"{UPDATES}add/", {"chosen": file}, follow=True)

    refused = check(("markers", "4.00", "free"))
    assert "markers.csv, line 2, column 7 (price): price is not an amount." in (
        refused.text
    )
    assert not CatalogueUpdate.objects.exists()

    checked = check()
    update = CatalogueUpdate.objects.get()
    assert (checked.status_code, update.number, len(update.changes)) == (200, None, 5)
    assert update.created_by == operator.email
    assert not Lab.objects.filter(slug="north").exists()

    pressed = {"action": "apply", "_selected_action": [update.pk]}
    applied = office.post(UPDATES, pressed, follow=True)
    again = office.post(UPDATES, pressed, follow=True)

    update.refresh_from_db()
    lab = Lab.objects.get(slug="north")
    assert "Update 1 is applied." in applied.text
    assert "This update is applied already." in again.text
    assert (update.number, update.applied_by) == (1, operator.email)
    assert (lab.owner, lab.environment) == (None, "production")


def test_an_operator_applies_no_update_of_a_teams_own_catalog(office, alice_tenant):  # noqa: F811
    own = check_catalogue_update(
        contents=with_changes(), actor=ACTOR, owner=alice_tenant
    )

    page = office.post(
        UPDATES, {"action": "apply", "_selected_action": [own.pk]}, follow=True
    )

    own.refresh_from_db()
    assert "Catalog update not found." in page.text
    assert own.number is None
    assert not Lab.objects.filter(slug="north").exists()


def test_a_panel_is_opened_and_the_audit_knows(office, alice_tenant):  # noqa: F811
    panel = make_lab_test(tenant=alice_tenant)

    page = office.get(f"{PANELS}{panel.pk}/change/")

    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="read")
    assert page.status_code == 200
    assert (entry.subject, entry.subject_id) == ("labtest", str(panel.pk))
