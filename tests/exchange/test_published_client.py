"""A FHIR client of others reads a user's labs and vital signs over HTTP."""

from __future__ import annotations

import pytest
from fhirpy import SyncFHIRClient

from tests.factories.accounts import make_api_key
from tests.factories.clinical import make_chart

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_fhirpy_reads_labs_and_vital_signs_page_by_page(
    alice_tenant, live_server, settings
):
    settings.PUBLIC_URL = live_server.url
    chart = make_chart(tenant=alice_tenant)
    client = SyncFHIRClient(
        f"{live_server.url}/fhir/R4",
        extra_headers={"x-service-api-key": make_api_key(tenant=alice_tenant)},
    )

    patient = client.resources("Patient").search(_id=str(chart.user.uuid)).first()
    results = client.resources("Observation").search(patient=patient.id).limit(3)
    labs = list(results.search(category="laboratory").fetch_all())
    vitals = list(results.search(category="vital-signs").fetch_all())
    report = client.reference("DiagnosticReport", str(chart.order.pk)).to_resource()

    assert patient["name"] == [{"family": "Example", "given": ["Rosa"]}]
    assert len(labs) == 7
    assert len(vitals) == 5
    first = report["result"][0].to_resource()
    assert first["valueQuantity"]["value"] == 85.1
