from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from accounts.models import AuditEntry
from labs.models import LabTest
from labs.operations.catalogue.panels import (
    DESCRIPTION_MAX_LENGTH,
    LabTestRequest,
    approve_lab_test,
    archive_lab_test,
    create_lab_test,
    unarchive_lab_test,
    update_lab_test,
)
from labs.states.catalogue import CollectionMethod, Generation, LabTestStatus
from tests.factories.accounts import ACTOR, make_tenant
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
)
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db
WALK_IN = CollectionMethod.WALK_IN_TEST


def create(tenant, **wanted):
    fields = {"name": "Ours", "method": WALK_IN, "description": "", **wanted}
    return create_lab_test(tenant=tenant, actor=ACTOR, request=LabTestRequest(**fields))


def verbs(tenant, panel):
    rows = AuditEntry.objects.for_tenant(tenant).filter(subject_id=str(panel.pk))
    return list(rows.order_by("pk").values_list("verb", "changes"))


@pytest.fixture
def lab(db):
    return make_lab()


def test_a_panel_waits_for_approval_at_the_price_of_its_markers(alice_tenant, lab):
    cheap = make_marker(lab=lab, price=Decimal("3.20"), fasting=True)
    unpriced = make_marker(lab=lab, price=None)

    panel = create(
        alice_tenant,
        name="  Heart  check ",
        description="What it is",
        marker_ids=(cheap.pk, unpriced.pk),
    )

    kept = LabTest.objects.for_tenant(alice_tenant).get(pk=panel.pk)
    assert kept.name == "Heart  check"
    assert kept.slug == "heart-check"
    assert kept.description == "What it is"
    assert kept.status == LabTestStatus.PENDING_APPROVAL
    assert kept.generation == Generation.MANUAL
    assert kept.price == Decimal("3.20")
    assert kept.fasting is True
    assert kept.lab == lab
    assert {marker.pk for marker in kept.markers.all()} == {cheap.pk, unpriced.pk}
    assert verbs(alice_tenant, panel) == [
        ("create_lab_test", {"name": [None, "Heart  check"]})
    ]


def test_what_was_said_of_fasting_holds(alice_tenant, lab):
    marker = make_marker(lab=lab, fasting=True)

    panel = create(alice_tenant, marker_ids=(marker.pk,), fasting=False)

    assert panel.fasting is False


@pytest.mark.parametrize("by_account", [True, False])
def test_codes_are_those_of_the_named_lab(alice_tenant, lab, by_account):
    ours = make_marker(lab=lab, provider_id="77")
    make_marker(lab=make_lab(), provider_id="77")
    account = make_lab_account(tenant=alice_tenant, lab=lab)
    names = {"lab_account_id": account.pk} if by_account else {"lab_slug": lab.slug}

    panel = create(alice_tenant, provider_ids=("77",), **names)

    assert [marker.pk for marker in panel.markers.all()] == [ours.pk]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("name_missing", {"name": "  "}),
        ("name_too_long", {"name": "n" * 151}),
        ("description_too_long", {"description": "d" * (DESCRIPTION_MAX_LENGTH + 1)}),
        ("markers_invalid", {"marker_ids": ()}),
        ("markers_invalid", {"provider_ids": ("77",)}),
        ("lab_missing", {"marker_ids": (), "provider_ids": ("77",)}),
        ("lab_not_found", {"lab_slug": "nowhere"}),
        ("marker_not_found", {"marker_ids": (1_999_999,)}),
        ("collection_method_not_offered", {"method": CollectionMethod.TESTKIT}),
        ("several_labs", {"lab_slug": "quest"}),
        ("lab_account_not_found", {"lab_account_id": uuid4()}),
    ],
)
def test_a_panel_that_can_not_be_is_refused(alice_tenant, lab, code, wanted):
    lab.collection_methods = [WALK_IN]
    lab.save()
    marker = make_marker(lab=lab)

    with refused(alice_tenant, code):
        create(alice_tenant, **{"marker_ids": (marker.pk,), **wanted})


def test_a_code_that_the_lab_does_not_have_is_refused(alice_tenant, lab):
    with refused(alice_tenant, "marker_not_found"):
        create(alice_tenant, provider_ids=("none",), lab_slug=lab.slug)


def test_markers_of_two_labs_are_refused(alice_tenant, lab):
    markers = (make_marker(lab=lab), make_marker(lab=make_lab()))

    with refused(alice_tenant, "several_labs"):
        create(alice_tenant, marker_ids=tuple(marker.pk for marker in markers))


def test_an_account_of_another_lab_is_refused(alice_tenant, lab):
    account = make_lab_account(tenant=alice_tenant, lab=make_lab())

    with refused(alice_tenant, "several_labs"):
        create(
            alice_tenant,
            provider_ids=("77",),
            lab_slug=lab.slug,
            lab_account_id=account.pk,
        )


def test_a_marker_that_is_not_orderable_is_refused(alice_tenant, lab):
    marker = make_marker(lab=lab, is_orderable=False)

    with refused(alice_tenant, "marker_not_orderable"):
        create(alice_tenant, marker_ids=(marker.pk,))


def test_approval_lets_a_panel_be_ordered(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, status=LabTestStatus.PENDING_APPROVAL)

    approve_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)

    panel.refresh_from_db()
    assert panel.status == LabTestStatus.ACTIVE
    assert verbs(alice_tenant, panel) == [
        ("approve_lab_test", {"status": ["pending_approval", "active"]})
    ]


@pytest.mark.parametrize("status", [LabTestStatus.ACTIVE, LabTestStatus.INACTIVE])
def test_only_a_waiting_panel_is_approved(alice_tenant, status):
    panel = make_lab_test(tenant=alice_tenant, status=status)

    with refused(alice_tenant, "transition_not_allowed"):
        approve_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)


@pytest.mark.parametrize(
    "before", [LabTestStatus.ACTIVE, LabTestStatus.PENDING_APPROVAL]
)
def test_an_archived_panel_comes_back_as_it_was(alice_tenant, before):
    panel = make_lab_test(tenant=alice_tenant, status=before)

    archive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
    panel.refresh_from_db()
    archived = panel.status
    unarchive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
    panel.refresh_from_db()

    assert archived == LabTestStatus.INACTIVE
    assert panel.status == before
    assert panel.status_before_archive == ""
    assert verbs(alice_tenant, panel) == [
        ("archive_lab_test", {"status": [before, "inactive"]}),
        ("unarchive_lab_test", {"status": ["inactive", before]}),
    ]


def test_an_archived_panel_is_not_archived_again(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, status=LabTestStatus.INACTIVE)

    with refused(alice_tenant, "transition_not_allowed"):
        archive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)


def test_a_panel_that_is_not_archived_does_not_come_back(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)

    with refused(alice_tenant, "transition_not_allowed"):
        unarchive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)


def test_a_change_renames_and_archives_at_once(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, name="Before")

    update_lab_test(
        tenant=alice_tenant,
        actor=ACTOR,
        lab_test_id=panel.pk,
        name=" After ",
        is_archived=True,
    )

    panel.refresh_from_db()
    assert (panel.name, panel.status) == ("After", LabTestStatus.INACTIVE)
    assert verbs(alice_tenant, panel) == [
        ("rename_lab_test", {"name": ["Before", "After"]}),
        ("archive_lab_test", {"status": ["active", "inactive"]}),
    ]


def test_a_change_brings_a_panel_back(alice_tenant):
    panel = make_lab_test(
        tenant=alice_tenant,
        status=LabTestStatus.INACTIVE,
        status_before_archive=LabTestStatus.PENDING_APPROVAL,
    )

    update_lab_test(
        tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk, is_archived=False
    )

    panel.refresh_from_db()
    assert panel.status == LabTestStatus.PENDING_APPROVAL


@pytest.mark.parametrize(
    ("status", "is_archived"),
    [
        (LabTestStatus.ACTIVE, False),
        (LabTestStatus.PENDING_APPROVAL, False),
        (LabTestStatus.INACTIVE, True),
        (LabTestStatus.ACTIVE, None),
    ],
)
def test_what_is_so_already_stays(alice_tenant, status, is_archived):
    panel = make_lab_test(tenant=alice_tenant, status=status, name="Same")

    update_lab_test(
        tenant=alice_tenant,
        actor=ACTOR,
        lab_test_id=panel.pk,
        name="Same",
        is_archived=is_archived,
    )

    panel.refresh_from_db()
    assert panel.status == status
    assert verbs(alice_tenant, panel) == []


@pytest.mark.parametrize(
    "change", [approve_lab_test, archive_lab_test, unarchive_lab_test, update_lab_test]
)
def test_a_stranger_finds_no_panel(alice_tenant, change):
    panel = make_lab_test(tenant=make_tenant())

    with refused(alice_tenant, "lab_test_not_found"):
        change(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
