"""Backend services sign in with a signed assertion, once, and read FHIR alone."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt
import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.conf import settings
from django.utils import timezone

from accounts.models import ApiKey, AuditEntry, UsedAssertion
from accounts.operations.api_keys.api_keys import (
    KeyRules,
    clear_api_key_cache,
    create_api_key,
    revoke_api_key,
)
from accounts.operations.api_keys.assertions import (
    change_public_keys,
    delete_used_assertions,
)
from portal.lib.errors import DomainError
from tests.clients import confirm
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"
TOKEN = f"{R4}/auth/token"
AUDIENCE = f"{settings.PUBLIC_URL}{TOKEN}"
EC_KEY = ec.generate_private_key(ec.SECP384R1())
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = ec.generate_private_key(ec.SECP384R1())
TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def jwk_of(private, kid):
    kind: Any = jwt.algorithms.ECAlgorithm
    if isinstance(private, rsa.RSAPrivateKey):
        kind = jwt.algorithms.RSAAlgorithm
    return {**kind.to_jwk(private.public_key(), as_dict=True), "kid": kid}


KEY_SET = json.dumps({"keys": [jwk_of(EC_KEY, "ec"), jwk_of(RSA_KEY, "rsa")]})


@pytest.fixture
def key(alice_tenant):
    key, _ = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="warehouse",
        rules=KeyRules(scopes=frozenset({"users:read", "patient_details:read"})),
    )
    return change_public_keys(key=key, actor=ACTOR, text=KEY_SET)


def assertion_of(key, *, private=EC_KEY, alg="ES384", kid="ec", **changes):
    claims = {
        "iss": str(key.pk),
        "sub": str(key.pk),
        "aud": AUDIENCE,
        "exp": int((timezone.now() + timedelta(minutes=4)).timestamp()),
        "jti": uuid4().hex,
        **changes,
    }
    held = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(held, private, algorithm=alg, headers={"kid": kid})


def sign_in(client, assertion, scope="system/*.read", **changes):
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": TYPE,
        "client_assertion": assertion,
        "scope": scope,
        **changes,
    }
    body = "&".join(f"{name}={value}" for name, value in form.items())
    return client.post(TOKEN, body, "application/x-www-form-urlencoded")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("private", "alg", "kid"),
    [(EC_KEY, "ES384", "ec"), (RSA_KEY, "RS384", "rsa")],
    ids=["EC", "RSA"],
)
def test_a_token_reads_fhir_and_nothing_else_for_five_minutes(
    key, alice_tenant, client, private, alg, kid
):
    user = make_user(tenant=alice_tenant)

    answer = sign_in(client, assertion_of(key, private=private, alg=alg, kid=kid))

    body = answer.json()
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert (body["token_type"], body["expires_in"]) == ("bearer", 300)
    assert body["scope"] == "system/*.read"
    headers = bearer(body["access_token"])
    path = f"{R4}/Patient/{user.uuid}"
    assert client.get(path, headers=headers).status_code == 200
    # What the key's own scopes do not open, its token does not.
    orders = client.get(f"{R4}/ServiceRequest", headers=headers)
    assert orders.status_code == 403
    elsewhere = client.get(f"/v2/user/{user.uuid}", headers=headers)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (403, "scope_missing")
    assert client.get(path).status_code == 401
    started = client.get(
        f"{R4}/$export", headers={**headers, "Prefer": "respond-async"}
    )
    assert started.status_code == 202
    signed_in = AuditEntry.unscoped.filter(verb="sign_in_backend_service").get()
    assert (signed_in.actor_label, signed_in.subject_id) == ("warehouse", str(key.pk))
    clear_api_key_cache()  # its clock stands still here
    with time_machine.travel(timezone.now() + timedelta(minutes=6), tick=False):
        assert client.get(path, headers=headers).status_code == 401


def test_a_token_is_limited_to_the_types_of_its_scopes(key, alice_tenant, client):
    user = make_user(tenant=alice_tenant)
    asked = "system/Device.rs system/Shoe.read patient/*.read system/Patient.write"

    body = sign_in(client, assertion_of(key), asked.replace(" ", "+")).json()

    headers = bearer(body["access_token"])
    assert body["scope"] == "system/Device.read"
    devices = client.get(
        f"{R4}/Device?patient={user.uuid}&_include=Device:patient", headers=headers
    )
    assert devices.status_code == 200
    assert client.get(f"{R4}/Patient/{user.uuid}", headers=headers).status_code == 403
    patients = client.get(
        f"{R4}/$export?_type=Patient",
        headers={**headers, "Prefer": "respond-async"},
    )
    assert patients.status_code == 403


def test_what_proves_nothing_is_refused_alike(key, alice_tenant, client):
    now = int(timezone.now().timestamp())
    used = assertion_of(key)
    assert sign_in(client, used).status_code == 200
    ended, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="ended")
    change_public_keys(key=ended, actor=ACTOR, text=KEY_SET)
    revoke_api_key(key=ended, actor=ACTOR)
    without, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="without")
    unsigned = jwt.encode({"iss": str(key.pk)}, None, algorithm="none")
    shared = jwt.encode(
        {"iss": str(key.pk), "sub": str(key.pk)}, "k" * 64, "HS256", {"kid": "ec"}
    )
    audited = AuditEntry.unscoped.count()

    refused = {
        "replayed": used,
        "expired": assertion_of(key, exp=now - 60),
        "lasts too long": assertion_of(key, exp=now + 3600),
        "for another server": assertion_of(key, aud="https://other.example/token"),
        "of another key": assertion_of(key, private=OTHER_KEY),
        "of an unknown key": assertion_of(key, kid="unknown"),
        "for somebody else": assertion_of(key, sub="x"),
        "without a name": assertion_of(key, jti=None),
        "with a long name": assertion_of(key, jti="x" * 256),
        "of a revoked key": assertion_of(ended),
        "of a key without keys": assertion_of(without),
        "of nobody": assertion_of(key, iss=str(uuid4())),
        "unsigned": unsigned,
        "signed by a shared secret": shared,
        "no token": "x.y.z",
        "empty": "",
    }
    answers = {why: sign_in(client, text) for why, text in refused.items()}

    assert {
        why: (answer.status_code, answer.json()) for why, answer in answers.items()
    } == dict.fromkeys(refused, (401, {"error": "invalid_client"}))
    assert (UsedAssertion.unscoped.count(), AuditEntry.unscoped.count()) == (1, audited)
    for changes, error in (
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_assertion_type": "x"}, "invalid_request"),
        ({"scope": "openid"}, "invalid_scope"),
    ):
        wrong = sign_in(client, assertion_of(key), **changes)
        assert (wrong.status_code, wrong.json()) == (400, {"error": error})


def test_a_revoked_key_ends_its_tokens_and_used_assertions_are_forgotten(key, client):
    token = sign_in(client, assertion_of(key)).json()["access_token"]
    assert delete_used_assertions() == 0

    revoke_api_key(key=key, actor=ACTOR)

    assert client.get(f"{R4}/Patient", headers=bearer(token)).status_code == 401
    with time_machine.travel(timezone.now() + timedelta(minutes=6), tick=False):
        assert delete_used_assertions() == 1


def test_a_key_set_that_can_not_be_used_is_refused(key):
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - too short
    p256 = ec.generate_private_key(ec.SECP256R1())
    secret = jwt.algorithms.ECAlgorithm.to_jwk(EC_KEY, as_dict=True)
    good = jwk_of(EC_KEY, "ec")
    refused = {
        "x": "key_set_malformed",
        "[]": "key_set_malformed",
        '{"keys": 1}': "key_set_malformed",
        json.dumps({"keys": [{**secret, "kid": "a"}]}): "private_key_sent",
        json.dumps({"keys": [jwk_of(small, "a")]}): "key_not_supported",
        json.dumps({"keys": [jwk_of(p256, "a")]}): "key_not_supported",
        json.dumps({"keys": [{"kty": "shoe", "kid": "a"}]}): "key_not_supported",
        json.dumps({"keys": [good, good]}): "key_id_missing",
        json.dumps({"keys": [{**good, "kid": ""}]}): "key_id_missing",
        json.dumps({"keys": [good] * 11}): "too_many_keys",
    }

    codes = {}
    for text in refused:
        with pytest.raises(DomainError) as error:
            change_public_keys(key=key, actor=ACTOR, text=text)
        codes[text] = error.value.code

    assert codes == refused
    stored = ApiKey.unscoped.get(pk=key.pk)
    assert [one["kid"] for one in stored.public_keys] == ["ec", "rsa"]


def test_the_page_shows_and_changes_the_keys_and_the_server_says_how_to_sign_in(
    key, alice_tenant, alice_web, client
):
    page = f"/t/{alice_tenant.team.slug}/sandbox/api-keys/{key.pk}/"
    confirm(alice_web)

    shown = alice_web.get(f"{page}public-keys/")
    wrong = alice_web.post(f"{page}public-keys/", {"key_set": "x"})
    saved = alice_web.post(f"{page}public-keys/", {"key_set": ""})
    told = client.get(f"{R4}/.well-known/smart-configuration").json()

    assert (shown.status_code, wrong.status_code) == (200, 422)
    assert str(key.pk) in shown.content.decode()
    assert (saved.status_code, saved["Location"]) == (302, page)
    assert ApiKey.unscoped.get(pk=key.pk).public_keys == []
    assert told["token_endpoint"] == AUDIENCE
    assert told["token_endpoint_auth_signing_alg_values_supported"] == [
        "RS384",
        "ES384",
    ]
    last = AuditEntry.unscoped.filter(verb="change_public_keys").latest("pk")
    assert last.changes == {"public_keys": [["ec", "rsa"], []]}
