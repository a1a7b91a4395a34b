from __future__ import annotations

import gzip

import orjson
import pytest
from django.http import HttpResponse
from django.test import RequestFactory, override_settings
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from portal.lib.api.compression import (
    COMPRESSED_FROM_BYTES,
    build_response_from_gzipped_json,
)
from portal.lib.api.views import json_response, mount_api_view

LARGE = {"text": "a" * COMPRESSED_FROM_BYTES}
SMALL = {"text": "a" * (COMPRESSED_FROM_BYTES - len('{"text":""}') - 1)}
PAPER = b"%PDF" + bytes(COMPRESSED_FROM_BYTES)


class Bytes(TenantAPIView):
    def get(self, request, size):
        if size == "paper":
            return HttpResponse(PAPER, content_type="application/pdf")
        return json_response(LARGE if size == "large" else SMALL)


class Rendered(TenantAPIView):
    def get(self, request, size):
        return Response(LARGE)


urlpatterns = [
    mount_api_view("v2/bytes/<size>", Bytes, "bytes"),
    mount_api_view("v2/rendered/<size>", Rendered, "rendered"),
]


@pytest.fixture
def api(alice_api):
    with override_settings(ROOT_URLCONF=__name__):
        yield alice_api


def ask(accepted):
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    return RequestFactory().get("/v2/bytes/large", headers=headers)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["bytes", "rendered"])
@pytest.mark.parametrize("accepted", ["gzip", "deflate, GZIP;q=0.5", "*"])
def test_a_large_answer_is_gzipped_for_a_client_that_takes_it(api, kind, accepted):
    reply = api.get(f"/v2/{kind}/large", headers={"Accept-Encoding": accepted})

    assert reply["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in reply["Vary"]
    assert reply["Content-Type"].startswith("application/json")
    assert len(reply.content) < COMPRESSED_FROM_BYTES // 10
    assert orjson.loads(gzip.decompress(reply.content)) == LARGE


@pytest.mark.django_db
@pytest.mark.parametrize("accepted", [None, "", "br", "gzip;q=0", "identity"])
def test_a_client_that_takes_no_gzip_gets_the_plain_answer(api, accepted):
    headers = {} if accepted is None else {"Accept-Encoding": accepted}

    reply = api.get("/v2/bytes/large", headers=headers)

    assert not reply.has_header("Content-Encoding")
    assert "Accept-Encoding" in reply["Vary"]
    assert reply.json() == LARGE


@pytest.mark.django_db
@pytest.mark.parametrize("size", ["small", "paper"])
def test_what_gains_nothing_is_left_alone(api, size):
    reply = api.get(f"/v2/bytes/{size}", headers={"Accept-Encoding": "gzip"})

    assert not reply.has_header("Content-Encoding")


def test_a_stored_answer_goes_out_as_it_is_stored_or_unpacked():
    stored = gzip.compress(b'{"time":null}', mtime=0)

    packed = build_response_from_gzipped_json(ask("gzip, br"), stored)
    plain = build_response_from_gzipped_json(ask(None), stored)

    assert (packed.content, packed["Content-Encoding"]) == (stored, "gzip")
    assert plain.content == b'{"time":null}'
    assert not plain.has_header("Content-Encoding")
    assert packed["Vary"] == plain["Vary"] == "Accept-Encoding"
