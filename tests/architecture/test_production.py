"""A new production tenant sees no row that ships: those are the sandbox's."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import get_resolver

from labs.models import Lab, LabTest, Marker, ServiceCenter
from labs.operations.insurance import list_built_in_payors
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db

# What a path asks for; other paths are asked for without a query.
QUERIES = {
    "psc/info": "zip_code=85004&lab_id=1",
    "area/info": "zip_code=85004",
    "markers": "include_pricing=true&size=500",
    "v3/lab_test": "include_pricing=true&generation_method=all",
    "search/payor": "insurance_name=",
    "search/diagnosis": "diagnosis_query=anemia",
}
PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)")


def walk(patterns, before=""):
    for one in patterns:
        path = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from walk(one.url_patterns, path)
        elif getattr(one.callback, "view_class", None) or hasattr(one.callback, "cls"):
            view = getattr(one.callback, "cls", None) or one.callback.view_class
            if view.__module__.startswith("labs.api.v3") and hasattr(view, "get"):
                yield path


@pytest.fixture
def shipped(alice_tenant):
    """Names of what ships; markers' names are of nobody."""
    models = (Lab, ServiceCenter, LabTest.unscoped.model)
    names = {
        row.name
        for model in models
        for row in model._base_manager.all()
        if len(row.name) > len("Manual")
    }
    return names | {payor.name for payor in list_built_in_payors()}


def paths(alice_tenant):
    lab = Lab.objects.get(slug="quest", environment="sandbox")
    marker = Marker.objects.filter(lab=lab).earliest("pk")
    panel = LabTest.objects.for_tenant(alice_tenant).earliest("created_at")
    values = {
        "lab_id": lab.pk,
        "provider_id": marker.provider_id,
        "lab_test_id": panel.pk,
    }
    found = set(walk(get_resolver().url_patterns))
    assert len(found) > 20
    for path in sorted(found):
        plain = PARAMETER.sub(lambda found: str(values.get(found[1]) or uuid4()), path)
        plain = plain.replace("^", "").removesuffix("/?$")
        query = next((q for end, q in QUERIES.items() if plain.endswith(end)), "")
        yield f"/{plain}?{query}" if query else f"/{plain}"


def test_a_new_production_tenant_reads_no_row_that_ships(
    alice_tenant, alice_production, alice_api, alice_production_api, shipped
):
    seen = set()
    for path in paths(alice_tenant):
        body = alice_production_api.get(path).content.decode(errors="replace")
        assert [name for name in shipped if name in body] == [], path
        sandbox = alice_api.get(path).content.decode(errors="replace")
        seen |= {name for name in shipped if name in sandbox}
    # The walk would find them: the sandbox reads labs, centers, panels and payors.
    assert {"Quest Diagnostics", "Harborview Service Center"} <= seen
    assert {"Lipid panel", "Desert Mutual Health Plan"} <= seen


def test_what_the_sandbox_has_is_unknown_in_production(
    alice_tenant, alice_production, alice_production_api
):
    lab = Lab.objects.get(slug="quest", environment="sandbox")
    marker = Marker.objects.filter(lab=lab).earliest("pk")
    panel = LabTest.objects.for_tenant(alice_tenant).earliest("created_at")
    api = alice_production_api
    made = {"name": "X", "method": "walk_in_test", "description": ""}
    before = holdings(alice_production)

    for answer, expected in (
        (api.get(f"/v3/lab_tests/{lab.pk}/markers/{marker.provider_id}"), 404),
        (api.get(f"/v3/order/psc/info?zip_code=85004&lab_id={lab.pk}"), 404),
        (api.get(f"/v3/lab_tests/{panel.pk}"), 404),
        (api.post("/v3/lab_tests", {**made, "marker_ids": [marker.pk]}), 404),
        (
            api.post(
                "/v3/lab_tests",
                {**made, "provider_ids": [marker.provider_id], "lab_slug": "quest"},
            ),
            404,
        ),
        (api.get("/v3/order/area/info?zip_code=85004"), 400),
        (
            api.post("/v3/order/psc/appointment/availability?lab=quest&zip_code=85004"),
            400,
        ),
    ):
        assert answer.status_code == expected, answer.content
        if expected == 400:
            assert answer.json()["code"] == "directory_required"
    assert api.get("/v3/lab_tests/labs").json() == []
    assert api.get("/v3/lab_tests/markers?lab_slug=quest").json()["total"] == 0
    assert holdings(alice_production) == before
