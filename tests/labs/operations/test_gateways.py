from __future__ import annotations

import pytest

from labs.gateways.sandbox import SandboxLab
from labs.operations import gateways
from labs.operations.gateways import get_lab_gateway
from portal.lib.errors import DomainError
from tests.factories.labs import make_order

pytestmark = pytest.mark.django_db


class OtherLab:
    """Stands for a real one."""


def test_production_talks_to_what_the_setting_names_and_a_sandbox_never_does(
    alice_tenant, alice_production, settings, monkeypatch
):
    monkeypatch.setitem(gateways.GATEWAYS, "other", OtherLab)
    settings.LAB_GATEWAY = "other"

    assert isinstance(get_lab_gateway(alice_production), OtherLab)
    assert isinstance(get_lab_gateway(alice_tenant), SandboxLab)


@pytest.mark.parametrize("name", ["", "sandbox", "elsewhere"])
def test_production_without_a_gateway_is_refused(
    alice_tenant, alice_production, settings, name
):
    settings.LAB_GATEWAY = name

    with pytest.raises(DomainError) as refused:
        get_lab_gateway(alice_production)
    assert refused.value.code == "lab_gateway_required"
    assert isinstance(get_lab_gateway(alice_tenant), SandboxLab)


def test_the_sandbox_lab_answers_the_same_order_the_same(alice_tenant):
    first, second = make_order(tenant=alice_tenant), make_order(tenant=alice_tenant)
    lab = SandboxLab()

    answers = [lab.request_requisition(order) for order in (first, first, second)]

    assert answers[0] == answers[1] != answers[2]
