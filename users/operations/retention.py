"""Retention of wearable data: count and delete what a team's rule covers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from portal.lib.database.retention import (
    STEP,
    count_rows_and_find_oldest,
    delete_rows_in_batches,
)
from users.models import Annotation, Summary, User, WorkoutStream
from users.store.retention import count_old_samples, remove_old_samples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.database.retention import Aged


_SAMPLES = 10 * STEP


def count_expired_summaries(tenant: Tenant, before: datetime) -> Aged:
    """Count summaries that end before a moment's day, by when they begin."""
    mine = Summary.objects.for_tenant(tenant).filter(user__tenant=tenant.pk)
    return count_rows_and_find_oldest(
        mine.filter(last_date__lt=before.date()), "starts_at"
    )


def delete_expired_summaries(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old summaries, those of workouts with their streams, user by user."""
    for user in User.objects.for_tenant(tenant).order_by("pk").iterator():
        mine = Summary.objects.for_tenant(tenant).filter(
            user=user, last_date__lt=before.date()
        )
        yield from delete_rows_in_batches(mine, remove=partial(_drop_summaries, user))


def count_expired_annotations(tenant: Tenant, before: datetime) -> Aged:
    """Count annotations whose last day is before a moment's, by their writing."""
    mine = Annotation.objects.for_tenant(tenant)
    return count_rows_and_find_oldest(
        mine.filter(last_day__lt=before.date()), "created_at"
    )


def delete_expired_annotations(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete annotations whose last day is before a moment's."""
    mine = Annotation.objects.for_tenant(tenant)
    yield from delete_rows_in_batches(mine.filter(last_day__lt=before.date()))


def count_expired_samples(tenant: Tenant, before: datetime) -> Aged:
    """Count the samples of whole months before a moment."""
    return count_old_samples(tenant_pk=tenant.pk, before=before)


def delete_expired_samples(tenant: Tenant, before: datetime) -> Iterator[int]:
    """Delete old samples, user by user, under the lock that batches take.

    What a source sends again is stored again, until the next run.
    """
    users = User.objects.for_tenant(tenant).order_by("pk")
    for user_pk in users.values_list("pk", flat=True).iterator():
        removed = _SAMPLES
        while removed >= _SAMPLES:
            with transaction.atomic():
                mine = User.objects.for_tenant(tenant).filter(pk=user_pk)
                mine.select_for_update().first()
                removed = remove_old_samples(
                    user_id=user_pk, before=before, limit=_SAMPLES
                )
            if removed:
                yield removed


def _drop_summaries(user: User, keys: list[UUID]) -> None:
    tenant = user.tenant_id
    streams = WorkoutStream.unscoped.filter(tenant_id=tenant, user=user)
    streams.filter(workout_id__in=keys).delete()
    Summary.unscoped.filter(tenant_id=tenant, pk__in=keys).delete()
