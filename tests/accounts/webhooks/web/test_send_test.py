from __future__ import annotations

import pytest

from accounts.webhooks.models import Delivery
from accounts.webhooks.operations.endpoints import change_endpoint
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint

pytestmark = pytest.mark.django_db


def path_of(endpoint):
    return f"/t/alice-health/sandbox/webhooks/{endpoint.uuid}/test/"


def test_a_test_event_is_sent_and_its_delivery_shown(alice_web, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant, filter_types=["labtest."])

    offered = alice_web.get(path_of(endpoint))
    reply = alice_web.post(
        path_of(endpoint), {"event_type": "daily.data.sleep.created"}
    )

    sent = Delivery.objects.for_tenant(alice_tenant).get()
    assert offered.context["form"].initial == {"event_type": "labtest.order.created"}
    assert sent.event_type == "daily.data.sleep.created"
    assert sent.event.message_id in reply.headers["Location"]
    assert alice_web.get(reply.headers["Location"]).status_code == 200


def test_the_list_sends_one_with_one_click_where_that_is_possible(
    alice_web, alice_tenant
):
    endpoint = make_endpoint(tenant=alice_tenant, filter_types=["labtest."])
    paused = make_endpoint(tenant=alice_tenant)
    change_endpoint(endpoint=paused, actor=ACTOR, disabled=True)

    html = alice_web.get("/t/alice-health/sandbox/webhooks/").content.decode()

    assert html.count('name="event_type"') == 1
    assert f'action="{path_of(endpoint)}"' in html
    assert 'value="labtest.order.created"' in html


@pytest.mark.parametrize("event_type", ["", "no.such"])
def test_a_type_that_is_not_offered_is_refused(alice_web, alice_tenant, event_type):
    endpoint = make_endpoint(tenant=alice_tenant)

    reply = alice_web.post(path_of(endpoint), {"event_type": event_type})

    assert reply.status_code == 422
    assert not Delivery.objects.for_tenant(alice_tenant).exists()


def test_a_disabled_endpoint_is_sent_nothing(alice_web, alice_tenant):
    endpoint = make_endpoint(tenant=alice_tenant)
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)

    reply = alice_web.post(
        path_of(endpoint), {"event_type": "daily.data.sleep.created"}
    )

    assert reply.status_code == 422
    assert not Delivery.objects.for_tenant(alice_tenant).exists()
