from __future__ import annotations

import pytest

from labs.models import Payor, UserInsurance
from labs.operations.insurance import (
    InsuranceRequest,
    PayorRequest,
    create_payor,
    find_payor,
    list_built_in_payors,
    search_payors,
    store_insurance,
)
from labs.queries.insurance import find_latest_insurance
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, PATIENT
from tests.factories.users import make_user
from tests.labs.holdings import refused
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db

INSURED = {**PATIENT, "address": ADDRESS}


def request(**wanted):
    return InsuranceRequest(
        **{
            "payor_code": "SBX001",
            "member_id": "M-1",
            "relationship": "Self",
            "insured": INSURED,
            **wanted,
        }
    )


def found(tenant, **wanted):
    return [payor.payor_code for payor in search_payors(tenant=tenant, **wanted)]


def test_the_reference_set_has_codes_of_its_own():
    codes = [payor.payor_code for payor in list_built_in_payors()]

    assert len(codes) == len(set(codes)) >= 10


def test_insurers_are_found_by_part_of_a_name_or_an_alias(
    alice_tenant, django_assert_num_queries
):
    with django_assert_num_queries(1):
        assert found(alice_tenant, name="desert") == ["SBX001"]
    assert found(alice_tenant, name=" dmhp ") == ["SBX001"]
    assert found(alice_tenant, name="nobody") == []
    assert found(alice_tenant, provider="Sandbox", provider_payor_id="SBX002") == [
        "SBX002"
    ]
    assert len(found(alice_tenant)) == len(list_built_in_payors())


def test_a_team_adds_an_insurer_that_no_other_sees(alice_tenant, charlie_tenant):
    request = PayorRequest(name=" Desert Own ", address=ADDRESS, provider="house")

    payor = create_payor(tenant=alice_tenant, actor=ACTOR, request=request)

    assert (payor.name, payor.source, payor.address) == ("Desert Own", "team", ADDRESS)
    assert found(alice_tenant, provider="house") == [payor.payor_code]
    assert found(charlie_tenant, provider="house") == []
    assert find_payor(tenant=charlie_tenant, payor_code=payor.payor_code) is None
    assert audited(alice_tenant) == [("create_payor", "payor", payor.payor_code)]


def test_an_insurer_without_a_name_is_refused(alice_tenant):
    with refused(alice_tenant, "payor_name_missing"):
        create_payor(
            tenant=alice_tenant,
            actor=ACTOR,
            request=PayorRequest(name=" ", address=ADDRESS),
        )
    assert Payor.objects.for_tenant(alice_tenant).count() == 0


def test_insurance_is_kept_once_per_rank_and_audited_by_field(alice_tenant):
    user = make_user(tenant=alice_tenant)

    store_insurance(user=user, actor=ACTOR, request=request())
    first = changes_of(alice_tenant, "record_insurance")
    other = store_insurance(user=user, actor=ACTOR, request=request(is_primary=False))
    primary = store_insurance(user=user, actor=ACTOR, request=request(member_id="M-2"))

    assert UserInsurance.objects.for_tenant(alice_tenant).count() == 2
    assert find_latest_insurance(user=user) == primary
    assert find_latest_insurance(user=user, is_primary=False) == other
    assert primary.member_id == "M-2"
    assert primary.company["name"] == "Desert Mutual Health Plan"
    assert first == {
        "fields": ["company", "insured", "member_id", "payor_code", "relationship"]
    }


def test_an_insurer_that_is_not_known_is_refused(alice_tenant):
    user = make_user(tenant=alice_tenant)

    with refused(alice_tenant, "payor_unknown"):
        store_insurance(user=user, actor=ACTOR, request=request(payor_code="nobody"))
    assert UserInsurance.objects.for_tenant(alice_tenant).count() == 0


def test_a_deleted_user_is_not_insured(alice_tenant):
    user = make_user(tenant=alice_tenant)
    delete_user(user=user, actor=ACTOR)

    with refused(alice_tenant, "not_found"):
        store_insurance(user=user, actor=ACTOR, request=request())
