from __future__ import annotations

import pytest

from labs.gateways.hl7.drop import OUT, DropFolder
from labs.models import Lab
from labs.operations.order_status.lab_cancellations import (
    CALL_OFF_JOB,
    cancel_order_at_lab,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import cancel_order, import_order
from labs.operations.orders.requisitions import create_requisition
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    PHYSICIAN,
    make_lab_test,
    make_order,
    order_request,
    set_up_production,
)
from tests.factories.users import make_user
from tests.jobs import queued

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


def call_offs():
    return [job for job in queued() if job.name == CALL_OFF_JOB]


def announced(tenant):
    order = make_order(tenant=tenant)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    return order


def test_the_lab_of_an_announced_order_is_told_that_it_was_called_off(
    alice_production,
):
    lab = Lab.objects.get(slug="labcorp")  # one that takes comments
    panel = make_lab_test(tenant=alice_production, lab=lab)
    order = make_order(
        tenant=alice_production, lab_test=panel, comments="Draw at rest."
    )
    create_requisition(tenant=alice_production, actor=ACTOR, order_id=order.pk)

    cancel_order(order=order, actor=ACTOR)
    cancel_order_at_lab(tenant=alice_production, order_id=order.pk)

    drop = DropFolder.for_account(
        tenant=alice_production, lab=order.lab, account=order.lab_account
    )
    assert len(call_offs()) == 1
    sent = {path.name[:2]: path.read_bytes() for path in (drop.path / OUT).iterdir()}
    assert sent.keys() == {"nw", "ca"}
    assert all(b"NTE|1|P|Draw at rest." in content for content in sent.values())


def test_no_lab_is_told_of_an_order_that_it_never_heard_of(
    alice_tenant, alice_production
):
    panel = make_lab_test(tenant=alice_production)
    set_up_production(tenant=alice_production, lab=panel.lab)
    user = make_user(tenant=alice_production)
    imported = import_order(
        tenant=alice_production,
        actor=ACTOR,
        request=order_request(user=user, panels=(panel,), physician=PHYSICIAN),
        sample_id="ELSEWHERE",
    )

    cancel_order(order=announced(alice_tenant), actor=ACTOR)
    cancel_order(order=make_order(tenant=alice_production), actor=ACTOR)
    cancel_order(order=imported, actor=ACTOR)

    assert call_offs() == []
