from __future__ import annotations

import pytest
from django.urls import reverse

from labs.models import Hl7Connection, Hl7OutboundMessage
from labs.operations.connections.files import exchange_hl7_files
from labs.operations.results.deliveries import store_result_delivery
from labs.operations.results_out import queue_new_results
from tests.clients import confirm
from tests.factories.accounts import ACTOR
from tests.factories.results import delivery, make_order_awaiting_results

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


def url(tenant, name, **ids):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**place, **ids})


def systems():
    return list(Hl7Connection.unscoped.filter(account=None))


def test_a_folder_is_set_up_and_removed(alice_web, alice_tenant):
    confirm(alice_web)
    page = alice_web.get(url(alice_tenant, "own_system"))
    saved = alice_web.post(
        url(alice_tenant, "save_own_system"), {"transport": "folder"}
    )

    assert "No system is connected" in page.content.decode()
    assert saved.status_code == 302
    (system,) = systems()
    assert (system.tenant_id, system.transport) == (alice_tenant.pk, "folder")
    alice_web.post(url(alice_tenant, "check_own_system"))
    assert (
        "Waiting to be sent"
        in alice_web.get(url(alice_tenant, "own_system")).content.decode()
    )

    asked = alice_web.get(url(alice_tenant, "remove_own_system"))
    assert "Remove the connection?" in asked.content.decode()
    assert systems() == [system]
    alice_web.post(url(alice_tenant, "remove_own_system"))
    assert systems() == []


def test_a_server_that_can_not_be_is_refused_at_its_field(alice_web, alice_tenant):
    confirm(alice_web)
    reply = alice_web.post(
        url(alice_tenant, "save_own_system"),
        {"transport": "mllp", "host": "no host", "port": "2575"},
    )

    assert reply.status_code == 422
    assert "host" in reply.context["form"].errors
    assert systems() == []


def test_an_order_says_what_was_sent_and_is_sent_again(alice_web, alice_tenant):
    confirm(alice_web)
    order = make_order_awaiting_results(tenant=alice_tenant)
    page = url(alice_tenant, "order", order_id=order.pk)
    alice_web.post(url(alice_tenant, "save_own_system"), {"transport": "folder"})
    store_result_delivery(order=order, actor=ACTOR, delivery=delivery())
    before = alice_web.get(page).content.decode()
    queue_new_results(tenant=alice_tenant, order_id=order.pk)
    (system,) = systems()
    exchange_hl7_files(tenant=alice_tenant, actor=ACTOR, connection_id=system.pk)

    after = alice_web.get(page).content.decode()
    reply = alice_web.post(url(alice_tenant, "resend_results", order_id=order.pk))

    assert "Send results</button>" in before
    assert "Sent, not answered" in after
    assert "Send results again</button>" in after
    assert reply.status_code == 302
    rows = Hl7OutboundMessage.unscoped.order_by("pk")
    assert [row.status for row in rows] == ["sent", "queued"]


def test_without_a_system_an_order_says_nothing_of_one(alice_web, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    store_result_delivery(order=order, actor=ACTOR, delivery=delivery())

    page = alice_web.get(url(alice_tenant, "order", order_id=order.pk))

    assert "h-sent-results" not in page.content.decode()


def test_identity_is_confirmed_before_the_system_changes(alice_web, alice_tenant):
    alice_web.post(url(alice_tenant, "save_own_system"), {"transport": "folder"})

    assert systems() == []
