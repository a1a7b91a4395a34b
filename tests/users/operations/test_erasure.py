from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts.declarations.hooks import list_app_hooks
from tests.factories.users import make_user
from tests.packed import list_samples
from users.models import SampleExtra
from users.operations.erasure import erase_user_samples
from users.store.columns import SampleColumns
from users.store.samples import get_sample_store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]
MOMENTS = [datetime(year, 3, 1, tzinfo=UTC) for year in (2024, 2025, 2026)]


def fill(user):
    get_sample_store().write_batch(
        user_id=user.pk,
        feed=1,
        columns=SampleColumns(
            [100] * 3, MOMENTS, [1.0] * 3, [0] * 3, [0] * 3, [0] * 3, {1: {"a": 1}}
        ),
    )


def test_erasing_takes_samples_of_every_month_and_their_extras(alice_tenant):
    user, other = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    for each in (user, other):
        fill(each)

    erase_user_samples(alice_tenant.pk, user.uuid)

    assert list_samples(user.pk) == []
    assert [row[0] for row in list_samples(other.pk)] == MOMENTS
    assert list(SampleExtra.objects.values_list("user_id", flat=True)) == [other.pk]


def test_erasing_a_user_erases_the_samples():
    erasers = [erase for app in list_app_hooks() for erase in app.user_erasers]

    assert erase_user_samples in erasers


def test_erasing_leaves_a_strangers_user_alone(alice_tenant, charlie_tenant):
    user = make_user(tenant=alice_tenant)
    fill(user)

    erase_user_samples(charlie_tenant.pk, user.uuid)

    assert len(list_samples(user.pk)) == 3
