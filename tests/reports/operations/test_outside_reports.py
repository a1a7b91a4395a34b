from __future__ import annotations

import orjson
import pytest

from accounts.declarations.hooks import StoredLabReports
from reports.models import OutsideReport
from reports.operations.outside_reports import store_outside_reports
from tests.factories.fhir import diagnostic_report, observation, quantity
from tests.factories.users import make_user
from users.wearables.formats.fhir.lab_reports import read_lab_report
from users.wearables.formats.fhir.values import load_fhir_json

pytestmark = pytest.mark.django_db
PHONE = "apple_health_kit"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def read(resource, *inside, **changed):
    loaded = [load_fhir_json(orjson.dumps(each)) for each in (resource, *inside)]
    kept = {f"Observation/{each['id']}": each for each in loaded[1:]}
    fields = {"source": "Riverside", "fhir_version": "4.0.1", "received": ""}
    return read_lab_report(loaded[0], kept.get) | fields | changed


def store(user, *reports):
    return store_outside_reports(user.tenant, user.uuid, PHONE, reports)


def kept(user, *, current=True):
    rows = OutsideReport.objects.for_tenant(user.tenant).filter(user=user)
    rows = rows.filter(is_current=True) if current else rows
    return [
        (one.record_id, one.number, one.status, [each["value"] for each in one.results])
        for one in rows.order_by("record_id", "number")
    ]


def test_a_report_is_stored_once_and_a_change_is_its_next_version(user):
    first = read(observation(), received="2026-02-20T09:00:00+00:00")
    later = read(observation(), received="2026-02-27T09:00:00+00:00")
    other = read(observation(), source="Hillside")
    amended = read(observation(status="amended", valueQuantity=quantity(5.0, "mmol/L")))
    void = read(observation(status="entered-in-error"))

    assert store(user, first, first, later, other) == StoredLabReports(2, 0)
    assert store(user, amended) == StoredLabReports(0, 1)
    assert store(user, amended, void) == StoredLabReports(0, 1)

    mine = ("Observation/k",)
    assert kept(user, current=False) == [
        (*mine, 1, "final", ["5.6"]),
        (*mine, 1, "final", ["5.6"]),
        (*mine, 2, "amended", ["5.0"]),
        (*mine, 3, "entered-in-error", []),
    ]
    assert kept(user) == [
        (*mine, 1, "final", ["5.6"]),
        (*mine, 3, "entered-in-error", []),
    ]


def test_an_older_export_changes_nothing(user):
    def of(updated, value):
        return read(
            observation(
                meta={"lastUpdated": updated}, valueQuantity=quantity(value, "mmol/L")
            )
        )

    store(user, of("2026-02-10T00:00:00Z", 5.0))

    assert store(
        user, of("2026-02-05T00:00:00Z", 5.6), of("2026-02-10T00:00:00Z", 5.0)
    ) == StoredLabReports(0, 0)
    assert kept(user) == [("Observation/k", 1, "final", ["5.0"])]


def test_a_result_alone_goes_into_its_report_and_is_not_stored_beside_it(user):
    store(user, read(observation()))
    panel = read(diagnostic_report("k"), observation())

    assert store(user, panel) == StoredLabReports(1, 0)
    assert store(user, read(observation()), panel) == StoredLabReports(0, 0)
    assert kept(user) == [("DiagnosticReport/panel", 1, "final", ["5.6"])]
