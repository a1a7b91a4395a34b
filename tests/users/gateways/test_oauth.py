from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from tests.users.gateways.oura_server import status
from users.gateways.base import (
    Grant,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.oura.gateway import OuraGateway
from users.gateways.sources import find_source_gateway
from users.states import ConnectionFault

BACK = "https://assay.example/connect/back/oura/"
OLD = Grant("access-1", "refresh-1", None, ("extapi:daily",), "oura-user-1")


def test_a_source_without_our_application_is_not_offered(settings):
    settings.OURA_CLIENT_ID = "our-id"
    settings.OURA_CLIENT_SECRET = ""

    assert find_source_gateway("oura") is None


def test_the_user_is_sent_with_state_challenge_and_scopes(oura):
    url = find_source_gateway("oura").authorise_url(
        state="st&te", redirect_url=BACK, challenge="ch-1"
    )

    parts = urlsplit(url)
    fields = {name: value for name, (value,) in parse_qs(parts.query).items()}
    assert (
        f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{oura.url}/oauth/authorize"
    )
    assert fields == {
        "response_type": "code",
        "client_id": "our-id",
        "redirect_uri": BACK,
        "scope": "extapi:daily extapi:heart_health extapi:heartrate extapi:personal"
        " extapi:session extapi:spo2 extapi:tag extapi:workout",
        "state": "st&te",
        "code_challenge": "ch-1",
        "code_challenge_method": "S256",
    }


def test_each_portal_has_its_own_addresses_and_scopes(settings):
    settings.OURA_CLIENT_ID = settings.OURA_CLIENT_SECRET = "our"
    settings.OURA_PORTAL = "cloud"

    url = OuraGateway().authorise_url(state="s", redirect_url=BACK, challenge="c")

    assert url.startswith("https://cloud.ouraring.com/oauth/authorize?")
    assert "spo2Daily" in url
    assert "extapi" not in url


def test_a_code_is_traded_for_tokens_by_who_has_the_verifier(oura):
    oura.scope = "extapi:daily extapi:personal"

    grant = find_source_gateway("oura").connect(
        code="code-1", redirect_url=BACK, verifier="verifier-1"
    )

    (form,) = oura.asked_for("/oauth/token")
    assert form == {
        "grant_type": "authorization_code",
        "code": "code-1",
        "redirect_uri": BACK,
        "code_verifier": "verifier-1",
        "client_id": "our-id",
        "client_secret": "our-secret",
    }
    assert grant.access_token == "access-1"
    assert grant.refresh_token == "refresh-1"
    assert grant.scopes == ("extapi:daily", "extapi:personal")
    assert grant.external_user_id == "oura-user-1"
    assert grant.expires_at is not None
    ends_in = grant.expires_at - timezone.now()
    assert timedelta(hours=23) < ends_in <= timedelta(hours=24)
    assert "access-1" not in repr(grant)


def test_a_user_who_keeps_their_name_to_themselves_is_connected(oura):
    oura.refused = {"personal_info"}

    grant = find_source_gateway("oura").connect(
        code="code-1", redirect_url=BACK, verifier="verifier-1"
    )

    assert grant.external_user_id == ""


def test_a_spent_code_is_refused(oura):
    with pytest.raises(SourceRefused) as refused:
        find_source_gateway("oura").connect(code="old", redirect_url=BACK, verifier="v")

    assert refused.value.fault == ConnectionFault.PROVIDER_CREDENTIAL_ERROR


def test_refreshing_gives_new_tokens_and_keeps_what_is_not_told(oura):
    new = find_source_gateway("oura").refresh_tokens(OLD)

    assert (new.access_token, new.refresh_token) == ("access-1", "refresh-1")
    assert new.scopes == OLD.scopes
    assert new.external_user_id == OLD.external_user_id
    assert new.expires_at is not None


def test_a_refresh_token_that_is_dead_is_refused(oura):
    with pytest.raises(SourceRefused) as refused:
        find_source_gateway("oura").refresh_tokens(Grant("a", "revoked"))

    assert refused.value.fault == ConnectionFault.TOKEN_REFRESH_FAILED


def test_a_fault_of_our_own_registration_breaks_nobody_s_connection(oura, settings):
    settings.OURA_CLIENT_SECRET = "wrong"

    with pytest.raises(SourceUnavailable) as away:
        find_source_gateway("oura").refresh_tokens(OLD)

    assert away.value.reason == "client_rejected"


@pytest.mark.parametrize(
    "said",
    [{}, {"access_token": 7}, {"access_token": ""}, {"access_token": "x" * 9000}],
    ids=["none", "number", "empty", "endless"],
)
def test_an_answer_without_a_token_is_no_grant(oura, said):
    oura.faults["/oauth/token"] = [status(200, said or {"a": 1})]

    with pytest.raises(SourceUnavailable) as away:
        find_source_gateway("oura").refresh_tokens(OLD)

    assert away.value.reason == "not_tokens"


def test_revoking_gives_the_refresh_token_back_and_twice_does_no_harm(oura):
    oura.faults["/oauth/revoke"] = [status(200, {}), status(400, {})]
    gateway = find_source_gateway("oura")

    gateway.revoke(OLD)
    gateway.revoke(OLD)

    forms = oura.asked_for("/oauth/revoke")
    assert [form["token"] for form in forms] == ["refresh-1", "refresh-1"]
    assert all("?" not in path for path, _ in oura.asked)
