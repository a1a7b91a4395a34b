from __future__ import annotations

import re

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from portal.api_docs import document

pytestmark = pytest.mark.django_db


def test_the_document_is_openapi_3_1_and_open_to_all(client):
    reply = client.get(reverse("api-schema"), headers={"accept": "application/json"})

    assert reply.status_code == 200
    assert b"3.1.1" in reply.content[:40]


def test_the_document_is_made_once_and_is_the_same_whatever_is_asked(
    client, monkeypatch
):
    monkeypatch.setattr(document, "_made", {})
    first = client.get("/api/schema/", {"version": "<b>mine</b>", "format": "json"})
    monkeypatch.setattr(document, "SchemaGenerator", None)

    again = client.get(
        "/api/schema/", {"lang": "de", "format": "json"}, HTTP_HOST="localhost"
    )

    assert again.content == first.content
    assert b"<b>" not in first.content


@pytest.mark.parametrize(
    ("query", "accept", "form"),
    [
        ("", "*/*", "yaml"),
        ("", "application/json", "json"),
        ("", "application/yaml", "yaml"),
        ("", "application/json;q=0.5, application/vnd.oai.openapi", "yaml"),
        ("json", "application/yaml", "json"),
        ("yaml", "application/json", "yaml"),
        ("xml", "application/json", "json"),
    ],
)
def test_the_document_is_json_or_yaml_as_asked(client, query, accept, form):
    reply = client.get("/api/schema/", {"format": query}, headers={"accept": accept})

    assert f'filename="assay-api.{form}"' in reply["Content-Disposition"]
    assert reply["Content-Type"].startswith("application/json") is (form == "json")
    assert reply["Vary"] == "Accept"
    start = reply.content[:40].decode()
    assert start.startswith('{"openapi":' if form == "json" else "openapi:")


def test_the_document_says_where_it_is_served_and_under_which_license(client):
    told = client.get("/api/schema/?format=json").json()

    assert [each["url"] for each in told["servers"]] == ["http://127.0.0.1:8000"]
    assert told["info"]["license"]["identifier"] == "Apache-2.0"
    assert told["info"]["contact"]["url"] == "http://127.0.0.1:8000/docs/"
    assert all(tag["description"] for tag in told["tags"])


def test_nobody_waits_while_the_document_is_made(client, monkeypatch):
    monkeypatch.setattr(document, "_made", {})
    with document._making:
        reply = client.get("/api/schema/")

    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert reply.json()["code"] == "busy"
    assert client.get("/api/schema/").status_code == 200


def test_the_docs_page_takes_every_asset_from_this_server(client):
    page = client.get(reverse("api-docs"))

    assets = re.findall(r'(?:src|href)="([^"]+)"', page.content.decode())
    static = [path for path in assets if path.startswith("/static/")]
    assert page.status_code == 200
    assert len(static) >= 3
    assert not [path for path in assets if not path.startswith(("/", "#"))]
    files = [path.removeprefix("/static/").partition("#")[0] for path in static]
    assert [path for path in files if not finders.find(path)] == []
