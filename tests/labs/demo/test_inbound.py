from __future__ import annotations

import pytest

from accounts.declarations.demo_data import DemoPerson, DemoScene
from labs.demo.inbound import load_demo_lab_messages
from labs.models import InboundMessage, InboundReport
from labs.states.inbound import UnmatchedReason
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_order_sent_to_lab
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db


def scene_of(tenant, *users):
    people = tuple(
        DemoPerson(user.uuid, user.client_user_id, (), None, None) for user in users
    )
    return DemoScene(tenant, ACTOR, people)


def test_one_message_waits_for_its_person_and_one_is_malformed(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    scene = scene_of(alice_tenant, order.user)

    load_demo_lab_messages(scene)
    load_demo_lab_messages(scene)

    report = InboundReport.objects.for_tenant(alice_tenant).get()
    messages = InboundMessage.objects.for_tenant(alice_tenant)
    assert report.reason == UnmatchedReason.PERSON_DIFFERS
    assert report.placers == [order.sample_id]
    assert "|Examplee^Ada|" in report.text
    assert sorted(one.status for one in messages) == ["malformed", "taken"]


def test_without_an_order_that_waits_nothing_is_sent(alice_tenant):
    load_demo_lab_messages(scene_of(alice_tenant, make_user(tenant=alice_tenant)))

    assert not InboundMessage.objects.for_tenant(alice_tenant).exists()
