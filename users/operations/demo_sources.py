"""Demo sources: connect one to a sandbox user, add data, delete the user later."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from portal.lib.jobs import jobs
from portal.lib.periods import find_day_start
from users.gateways.demo import make_demo_person, make_demo_source_data
from users.models import Connection, DemoUser, Pull, Summary, Supply, User
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.streams import record_workout_stream
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.operations.sources.pulls import record_completed_backfill
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user
from users.queries import lock_user
from users.states import SourceType
from users.wearables.summaries import MENSTRUAL_CYCLE, SUMMARIES, WORKOUTS
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.demo import DemoData

# Contract 3.5.
_OURA = (
    *("sleep", "sleep_cycle", "activity", "workouts", "workout_stream"),
    *("heartrate", "hrv", "steps"),
)
DEMO_SOURCES: dict[str, tuple[str, ...]] = {
    "apple_health_kit": (*_OURA, "body", "menstrual_cycle"),
    "fitbit": (
        *("activity", "sleep", "sleep_cycle", "body", "workouts"),
        *("steps", "heartrate"),
    ),
    "freestyle_libre": ("glucose",),
    "oura": _OURA,
}
DEMO_DAYS = 30
DEMO_TTL = timedelta(days=7)
# What a user's page compares with the weeks before.
COMPARED = frozenset({"sleep", "activity", "workouts", "body", "glucose"})
# What a call takes at most (contract 5.4), so that made-up data comes as real data can.
_BATCH = 10_000
_WORN = {
    "oura": SourceType.RING,
    "ultrahuman": SourceType.RING,
    "freestyle_libre": SourceType.AUTOMATIC,
    "dexcom_v3": SourceType.AUTOMATIC,
}
_CYCLES_APP = "com.example.cycles"


@transaction.atomic
def connect_demo_source(*, user: User, actor: Actor, provider: str) -> Connection:
    """Connect a demo source to a sandbox user, with DEMO_DAYS of data.

    Tells of the connection, then once of each resource's past. One that is connected
    already gets what has come since, as a real one would send it. The user goes
    DEMO_TTL after the first one. Raises: sandbox_only, demo_source_unknown,
    real_source_connected (400); not_found. Source: Contract 3.5; Ours: all of it at
    once, as it takes a second.
    """
    if not user.tenant.is_sandbox:
        raise DomainError(
            "sandbox_only", _("Demo sources are available in the sandbox only.")
        )
    if provider not in DEMO_SOURCES:
        raise DomainError("demo_source_unknown", _("Unknown demo source."), "provider")
    user = lock_user(user)
    live = list(Connection.objects.for_tenant(user.tenant).live().filter(user=user))
    if not all(connection.is_demo for connection in live):
        raise DomainError(
            "real_source_connected",
            _("This user has a real source. Demo data cannot be added."),
        )
    now = timezone.now()
    DemoUser.objects.for_tenant(user.tenant).get_or_create(
        user=user, defaults={"tenant": user.tenant, "expires_at": now + DEMO_TTL}
    )
    return add_demo_source_data(
        user=user, actor=actor, provider=provider, resources=DEMO_SOURCES[provider]
    )


@transaction.atomic
def add_demo_source_data(
    *,
    user: User,
    actor: Actor,
    provider: str,
    resources: Sequence[str],
    until: datetime | None = None,
    earlier_days: int = 0,
) -> Connection:
    """Connect a demo source if needed, and store its data up to `until`.

    The first time that is a past of DEMO_DAYS, of what COMPARED names `earlier_days`
    more, announced once for each resource; later what came since, announced as usual.
    Raises: provider_unknown; not_found. Source: Contract 3.5; Ours: the more.
    """
    now = until or timezone.now()
    person = make_demo_person(
        name=user.client_user_id, time_zone=user.fallback_time_zone or None
    )
    connection = connect_source(user=user, actor=actor, provider=provider, is_demo=True)
    connection.user = user
    pulls = Pull.objects.for_tenant(user.tenant).filter(connection=connection)
    is_first = not pulls.filter(is_history=True).exists()
    since = now.astimezone(person.zone).date() - timedelta(days=DEMO_DAYS - 1)
    if newest := None if is_first else _newest(user, provider):
        # The sums of a day that was not over have moved since.
        since = max(since, newest.astimezone(person.zone).date())
    earliest = since - timedelta(days=earlier_days if is_first else 0)
    compared = [each for each in resources if each in COMPARED]
    others = [each for each in resources if each not in COMPARED]
    # Workouts come before their streams.
    for first, some in ((earliest, compared), (since, others)):
        made = make_demo_source_data(
            person=person, provider=provider, resources=some, since=first, now=now
        )
        _store(user, actor, provider, made, is_history=is_first)
    if is_first:
        for resource in resources:
            first = earliest if resource in COMPARED else since
            record_completed_backfill(
                connection=connection,
                actor=actor,
                resource=resource,
                range_start=find_day_start(first, person.zone),
                range_end=now,
            )
    return connection


def enqueue_demo_user_expiries() -> int:
    """Enqueue deleting each expired demo user; return how many.

    Over all tenants.
    """
    due = DemoUser.unscoped.filter(
        expires_at__lte=timezone.now(), user__deleted_at=None
    ).select_related("tenant", "user")
    for demo in due:
        jobs.enqueue_job(
            "users.expire_demo_user",
            tenant=demo.tenant,
            user_id=str(demo.user.uuid),
        )
    return len(due)


@transaction.atomic
def expire_demo_user(*, tenant: Tenant, actor: Actor, user_uuid: UUID) -> bool:
    """Delete an expired demo user; return whether it was deleted.

    One who has a real source by now stays for good. Source: Contract 3.5; Ours: nobody
    loses real data to an old demo.
    """
    demo = (
        DemoUser.objects.for_tenant(tenant)
        .select_related("user")
        .filter(
            user__uuid=user_uuid,
            user__deleted_at=None,
            expires_at__lte=timezone.now(),
        )
        .first()
    )
    if demo is None:
        return False
    demo.user.tenant = tenant
    user = lock_user(demo.user)
    live = Connection.objects.for_tenant(tenant).live().filter(user=user)
    if live.filter(is_demo=False).exists():
        demo.delete()
        return False
    delete_user(user=user, actor=actor)
    return True


def _newest(user: User, provider: str) -> datetime | None:
    """Return the start of a source's newest record; cycles may lie ahead."""
    supplies = Supply.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider
    )
    real = supplies.exclude(resource=MENSTRUAL_CYCLE.slug)
    newest: datetime | None = real.aggregate(last=Max("newest_data"))["last"]
    return newest


def _store(
    user: User, actor: Actor, provider: str, made: DemoData, *, is_history: bool
) -> None:
    worn = _WORN.get(provider, SourceType.WATCH)
    for slug, elements in made.summaries.items():
        by_hand = slug == MENSTRUAL_CYCLE.slug
        record_summaries(
            user=user,
            actor=actor,
            resource=SUMMARIES[slug],
            batch=SummaryBatch(
                provider=provider,
                elements=elements,
                source_type=SourceType.APP if by_hand else worn,
                app_id=_CYCLES_APP if by_hand else None,
            ),
            is_history=is_history,
        )
    for slug, samples in made.samples.items():
        for first in range(0, len(samples), _BATCH):
            record_samples(
                user=user,
                actor=actor,
                resource=TIMESERIES[slug],
                batch=SampleBatch(
                    provider=provider,
                    elements=samples[first : first + _BATCH],
                    source_type=worn,
                ),
                is_history=is_history,
            )
    for workout, stream in _with_streams(user, provider, made):
        record_workout_stream(
            workout=workout, actor=actor, body=stream, is_history=is_history
        )


def _with_streams(
    user: User, provider: str, made: DemoData
) -> Iterable[tuple[Summary, dict[str, object]]]:
    stored = Summary.objects.for_tenant(user.tenant).filter(
        user=user,
        provider=provider,
        kind=WORKOUTS.slug,
        raw__time_start__in=list(made.streams),
    )
    for workout in stored.order_by("starts_at"):
        workout.user = user
        yield workout, made.streams[workout.raw["time_start"]]
