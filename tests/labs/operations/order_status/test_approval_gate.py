from __future__ import annotations

import pytest

from labs.models import OrderApproval
from labs.operations.order_status.approval_gate import awaits_approval, require_approved
from portal.lib.errors import DomainError
from tests.factories.labs import make_order


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "held"),
    [(None, False), ("waiting", True), ("refused", True), ("approved", False)],
)
def test_only_a_physicians_yes_lets_an_order_on(alice_tenant, status, held):
    order = make_order(tenant=alice_tenant)
    if status:
        OrderApproval(tenant=alice_tenant, order=order, status=status).save()

    assert awaits_approval(order) is held
    if held:
        with pytest.raises(DomainError) as refusal:
            require_approved(order)
        assert refusal.value.code == "order_not_approved"
    else:
        require_approved(order)
