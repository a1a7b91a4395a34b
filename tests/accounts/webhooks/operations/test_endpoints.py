from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.webhooks.models import Delivery, Endpoint
from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    read_custom_headers,
    replace_custom_headers,
    reveal_signing_secret,
    rotate_signing_secret,
)
from accounts.webhooks.signing import decode_signing_secret
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import decrypt_secret
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import PUBLIC_URL, make_endpoint, make_event

pytestmark = pytest.mark.django_db

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def stored(tenant):
    return list(Endpoint.objects.for_tenant(tenant).order_by("id"))


def refusal(verb, **inputs):
    with pytest.raises(DomainError) as refused:
        verb(actor=ACTOR, **inputs)
    return refused.value.code


def test_an_endpoint_gets_a_secret_that_is_encrypted_at_rest(alice_tenant):
    endpoint = create_endpoint(tenant=alice_tenant, actor=ACTOR, url=PUBLIC_URL)

    [row] = stored(alice_tenant)
    assert (row.url, row.filter_types, row.rate_limit) == (PUBLIC_URL, None, None)
    assert row.disabled_at is None
    assert not row.secret.startswith("whsec_")
    assert len(decode_signing_secret(decrypt_secret(row.secret))) == 32
    assert reveal_signing_secret(endpoint=endpoint, actor=ACTOR) == decrypt_secret(
        row.secret
    )
    verbs = AuditEntry.objects.for_tenant(alice_tenant).order_by("id")
    assert [entry.verb for entry in verbs][-2:] == ["create_endpoint", "reveal_secret"]


def test_all_that_the_contract_names_is_kept(alice_tenant):
    endpoint = create_endpoint(
        tenant=alice_tenant,
        actor=ACTOR,
        url=f" {PUBLIC_URL} ",
        description=" Warehouse ",
        rate_limit=20,
        disabled=True,
        filter_types=["provider.", "lab_report.parsing_job.created", "provider."],
        secret=SECRET,
    )

    assert (endpoint.url, endpoint.description) == (PUBLIC_URL, "Warehouse")
    assert (endpoint.rate_limit, endpoint.disabled_by) == (20, "member")
    assert endpoint.filter_types == ["lab_report.parsing_job.created", "provider."]
    assert decrypt_secret(endpoint.secret) == SECRET


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"url": "http://hooks.customer.example/"}, "url_refused"),
        ({"url": "https://169.254.169.254/"}, "url_refused"),
        ({"url": f"https://hooks.customer.example/{'a' * 2000}"}, "url_too_long"),
        ({"description": "x" * 501}, "description_too_long"),
        ({"rate_limit": 0}, "rate_limit_invalid"),
        ({"rate_limit": 1001}, "rate_limit_invalid"),
        ({"filter_types": ["lab_report.unheard_of"]}, "filter_type_unknown"),
        ({"filter_types": ["lab_report"]}, "filter_type_unknown"),
        ({"filter_types": ["unheard."]}, "filter_type_unknown"),
        ({"filter_types": [str(n) for n in range(301)]}, "too_many_filter_types"),
        ({"secret": "whsec_short"}, "secret_invalid"),
    ],
)
def test_what_can_not_be_an_endpoint_is_refused(alice_tenant, inputs, code):
    assert (
        refusal(create_endpoint, tenant=alice_tenant, **{"url": PUBLIC_URL, **inputs})
        == code
    )
    assert stored(alice_tenant) == []


def test_a_team_has_so_many_endpoints_and_no_more(alice_tenant):
    endpoints = [make_endpoint(tenant=alice_tenant) for _ in range(50)]

    assert refusal(create_endpoint, tenant=alice_tenant, url=PUBLIC_URL) == (
        "too_many_endpoints"
    )
    delete_endpoint(endpoint=endpoints[0], actor=ACTOR)
    make_endpoint(tenant=alice_tenant)


def test_enabling_begins_anew_and_sends_nothing_that_was_held(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant)
    Endpoint.objects.for_tenant(alice_tenant).update(
        first_failed_at=timezone.now(), failing_since=timezone.now(), warned_percent=50
    )

    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)
    off = stored(alice_tenant)[0]
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=False)
    on = stored(alice_tenant)[0]

    assert (off.disabled_by, off.disabled_at is None) == ("member", False)
    assert (on.disabled_by, on.disabled_at) == ("", None)
    assert (on.first_failed_at, on.failing_since, on.warned_percent) == (None, None, 0)
    assert Delivery.objects.for_tenant(alice_tenant).get().status == "held"


def test_a_change_says_what_it_changed_and_a_change_of_nothing_says_nothing(
    alice_tenant,
):
    endpoint = make_endpoint(tenant=alice_tenant, description="Old")
    entries = AuditEntry.objects.for_tenant(alice_tenant)
    before = entries.count()

    change_endpoint(endpoint=endpoint, actor=ACTOR, description="Old", url=PUBLIC_URL)
    unchanged = entries.count()
    change_endpoint(endpoint=endpoint, actor=ACTOR, description="New")

    assert unchanged == before
    assert entries.latest("id").changes == {"description": ["Old", "New"]}


def test_a_deleted_endpoint_drops_what_waits_and_can_not_be_changed(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    make_event(tenant=alice_tenant)

    delete_endpoint(endpoint=endpoint, actor=ACTOR)

    assert Delivery.objects.for_tenant(alice_tenant).get().status == "dropped"
    for verb, inputs in (
        (change_endpoint, {"url": PUBLIC_URL}),
        (rotate_signing_secret, {}),
        (replace_custom_headers, {"headers": {}}),
        (delete_endpoint, {}),
    ):
        assert refusal(verb, endpoint=endpoint, **inputs) == "endpoint_deleted"


def test_a_rotated_secret_signs_on_for_a_day(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant, secret=SECRET)

    rotated = rotate_signing_secret(endpoint=endpoint, actor=ACTOR)

    assert decrypt_secret(rotated.previous_secret) == SECRET
    assert decrypt_secret(rotated.secret) != SECRET
    assert rotated.previous_secret_ends_at == rotated.secret_made_at + timedelta(days=1)


def test_headers_are_kept_encrypted_and_named_alone_in_the_audit(alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)

    replace_custom_headers(
        endpoint=endpoint, actor=ACTOR, headers={"Authorization": "Bearer abc"}
    )

    [row] = stored(alice_tenant)
    assert "abc" not in row.headers
    assert read_custom_headers(row) == {"Authorization": "Bearer abc"}
    entry = AuditEntry.objects.for_tenant(alice_tenant).latest("id")
    assert entry.changes == {"headers": [None, ["Authorization"]]}
    replace_custom_headers(endpoint=endpoint, actor=ACTOR, headers={})
    assert read_custom_headers(stored(alice_tenant)[0]) == {}


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"": "x"}, "header_invalid"),
        ({"A B": "x"}, "header_invalid"),
        ({"A": "x\r\nB: y"}, "header_invalid"),
        ({"A": "ü"}, "header_invalid"),
        ({"A": "x" * 4001}, "header_invalid"),
        ({"Webhook-Id": "x"}, "header_invalid"),
        ({"Host": "x"}, "header_invalid"),
        ({"A": "1", "a": "2"}, "header_invalid"),
        ({f"A{n}": "x" for n in range(21)}, "too_many_headers"),
    ],
    ids=range(9),
)
def test_a_header_that_would_break_the_message_is_refused(alice_tenant, headers, code):
    endpoint = make_endpoint(tenant=alice_tenant)

    assert refusal(replace_custom_headers, endpoint=endpoint, headers=headers) == code
    assert stored(alice_tenant)[0].headers == ""
