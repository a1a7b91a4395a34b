from __future__ import annotations

import json

import pytest
from django.urls import reverse
from jsonschema import Draft202012Validator

from portal.api_docs.reference import (
    list_answers_of_operation,
    list_codes_of_operation,
    list_reference_operations,
)
from tests.contract.document import document

pytestmark = pytest.mark.django_db


def page(client, slug):
    reply = client.get(reverse("api-docs-call", args=[slug]))
    assert reply.status_code == 200
    return reply.content.decode()


def test_every_operation_has_a_page_with_all_its_parts(client):
    operations = list_reference_operations()

    assert len(operations) == sum(map(len, document()["paths"].values()))
    for slug, each in operations.items():
        assert [name for name, _ in each.calls] == ["curl", "Python", "JavaScript"]
        curl = each.calls[0][1]
        assert f"curl -X {each.method}" in curl
        assert each.key_header in curl
        python = each.calls[1][1]
        compile(python, slug, "exec")
        told = {answer.status for answer in each.answers}
        assert {401, 422} <= told
        for answer in list_answers_of_operation(slug):
            json.loads(answer.text or "null")


def test_every_example_is_as_its_schema_and_says_something():
    made = document()
    vague = []
    for operation in list_reference_operations().values():
        described = made["paths"][operation.path][operation.method.lower()]
        bodies = [(operation.body_example, described.get("requestBody", {}))]
        bodies += [
            (answer.text, described["responses"][str(answer.status)])
            for answer in operation.answers
            if answer.status < 400
        ]
        for text, place in bodies:
            media = place.get("content", {}).get("application/json")
            if media is None or not text:
                continue
            schema = {**media["schema"], "components": made["components"]}
            Draft202012Validator(schema).validate(json.loads(text))
            if '"text"' in text.replace('"text":', ""):
                vague.append((operation.slug, text))

    assert vague == [], "name a value in portal/api_docs/example_values.json"


def test_a_call_s_page_tells_how_it_is_made_and_refused(client):
    text = page(client, "cancel_order")

    assert "orders:write" in text
    assert "labtest.order.updated" in text
    assert "/v3/order/$ORDER_ID/cancel" in text
    codes = [each.code for each in list_codes_of_operation("cancel_order")]
    assert "order_not_cancellable" in codes
    assert all(f"#{code}" in text for code in codes)
    assert "data-try" in text


def test_calls_are_found_by_words_of_path_and_text(client):
    found = client.get("/api/docs/", {"q": "psc/appointment/book"}).context["found"]
    nothing = client.get("/api/docs/", {"q": "nothing fits"}).content.decode()

    assert [each.slug for _, calls in found for each in calls] == [
        "book_psc_appointment",
    ]
    assert "No call found" in nothing


def test_an_unknown_call_is_not_found(client):
    assert client.get("/api/docs/calls/nothing/").status_code == 404
    # Nothing of ours is tried with a management key, and no files are sent.
    assert "data-try" not in page(client, "list_teams")
    assert "data-try" not in page(client, "create_parsing_job")
