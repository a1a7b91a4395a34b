"""Demo data of users: create what the sources of demo people would send."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from portal.lib.jobs import jobs
from portal.lib.periods import find_time_zone_by_name
from users.gateways.demo import MADE_UP, make_demo_sync_times
from users.models import Arrival, Connection, User
from users.operations.demo_sources import DEMO_SOURCES, add_demo_source_data
from users.operations.sources.cadences import update_usual_data_intervals
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source
from users.queries import find_last_data_time_by_source
from users.states import ConnectionFault, ConnectionStatus
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from accounts.declarations.demo_data import DemoScene
    from accounts.models import Tenant
    from portal.lib.actor import Actor

LOAD_JOB = "users.load_demo_source"
# How long before the first loading sources are said to have sent.
SYNCED_FOR = timedelta(days=7)
# The past ends this long ago: what is newer comes as news, so that there are some.
_NEWS = timedelta(days=1)
# New samples in each sync, of what comes all day long; of the rest what a night brings.
_BY_SYNC = {"heartrate": 18, "steps": 5, "glucose": 5, "activity": 1}
# Whose users have taken their permission back, so that something is broken.
_TAKEN_BACK = {"strava"}
_BY_NIGHT = {"sleep": 1, "sleep_cycle": 1, "hrv": 85}


def load_demo_sources(scene: DemoScene) -> None:
    """Connect the sources of demo people and enqueue loading their data.

    A source that was disconnected stays so. Source: Contract 3.5; Ours (a newcomer sees
    every screen with something on it): sources beyond the contract's four give what of
    theirs can be made up; a job for each, as it is minutes of data for one who waits.
    """
    user_uuids = [person.user_uuid for person in scene.people]
    live = User.objects.for_tenant(scene.tenant).live().filter(uuid__in=user_uuids)
    users = {user.uuid: user for user in live.select_related("tenant__team")}
    known = {
        (connection.user_id, connection.provider): connection.disconnected_at is None
        for connection in Connection.objects.for_tenant(scene.tenant)
        .filter(user__in=users.values())
        .order_by("id")
    }
    for person in scene.people:
        user = users[person.user_uuid]
        for source in person.sources:
            if (user.pk, source) not in known:
                connect_source(
                    user=user, actor=scene.actor, provider=source, is_demo=True
                )
            if known.get((user.pk, source), True) and _made_up(source):
                jobs.enqueue_job(
                    LOAD_JOB,
                    tenant=scene.tenant,
                    lock=f"{LOAD_JOB}:{user.pk}",
                    user_id=str(user.uuid),
                    provider=source,
                    quiet_days=person.quiet_days,
                    earlier_days=person.earlier_days,
                )


@transaction.atomic  # what a source sent is either not there or whole
def load_demo_source(
    *,
    tenant: Tenant,
    actor: Actor,
    user_uuid: UUID,
    provider: str,
    quiet_days: int,
    earlier_days: int = 0,
) -> bool:
    """Store a demo source's data up to `quiet_days` ago; return whether it did.

    It begins as add_demo_source_data says. Repeating it brings what has happened since
    and changes nothing else. All arrives as the source would have sent it: over the
    day, not in the moment of loading. Source: as load_demo_sources.
    """
    live = Connection.objects.for_tenant(tenant).live()
    connection = (
        live.select_related("user")
        .filter(user__uuid=user_uuid, provider=provider)
        .first()
    )
    if connection is None or connection.status == ConnectionStatus.ERROR:
        return False
    user = connection.user
    user.tenant = tenant
    now = timezone.now() - timedelta(days=quiet_days)
    last_data_at = find_last_data_time_by_source(user=user).get(provider)
    for until in [now] if last_data_at else [now - _NEWS, now]:
        add_demo_source_data(
            user=user,
            actor=actor,
            provider=provider,
            resources=_made_up(provider),
            until=until,
            earlier_days=earlier_days,
        )
    _spread_arrivals(user, provider, since=last_data_at, now=now)
    update_usual_data_intervals(tenant=tenant, user_key=user.pk)
    if last_data_at is None and provider in _TAKEN_BACK:
        mark_connection_failed(
            connection=connection,
            actor=actor,
            fault=ConnectionFault.DEREGISTERED_PER_PROVIDER,
        )
    return True


def _made_up(source: str) -> Sequence[str]:
    return DEMO_SOURCES.get(source) or [
        each for each in PROVIDERS[source].resources if each in MADE_UP
    ]


def _spread_arrivals(
    user: User, source: str, *, since: datetime | None, now: datetime
) -> None:
    """Replace the arrivals just recorded by those of real syncs."""
    sent = Arrival.objects.for_tenant(user.tenant).filter(
        user=user, provider=source, at__gt=since or user.created_on - SYNCED_FOR
    )
    whole = {
        resource: (created, updated)
        for resource, created, updated in sent.values_list("resource")
        .annotate(Sum("created"), Sum("updated"))
        .order_by("resource")
    }
    syncs = make_demo_sync_times(
        person=user.client_user_id,
        provider=source,
        time_zone=user.fallback_time_zone,
        since=since or now - SYNCED_FOR,
        now=now,
    )
    made = [
        Arrival(
            tenant=user.tenant,
            user=user,
            provider=source,
            resource=resource,
            at=at,
            received=created + updated + again,
            created=created,
            updated=updated,
            dropped=0,
        )
        for resource, (new, changed) in whole.items()
        for at, again, created, updated in _group_by_sync(
            user, resource, syncs, new, changed
        )
    ]
    sent.delete()
    Arrival.objects.for_tenant(user.tenant).bulk_create(made)


def _group_by_sync(
    user: User,
    resource: str,
    syncs: Sequence[tuple[datetime, int]],
    new: int,
    changed: int,
) -> Iterator[tuple[datetime, int, int, int]]:
    """Return for each sync its time and how many were repeated, created, updated.

    The first brings what the later ones do not.
    """
    zone = find_time_zone_by_name(user.fallback_time_zone)
    mornings: dict[date, datetime] = {}
    for at, _ in syncs:
        mornings.setdefault(at.astimezone(zone).date(), at)
    nightly = _BY_NIGHT.get(resource, 0)
    news = []
    # From the latest back, as what there is may not last for all.
    for at, again in reversed(syncs):
        is_morning = mornings[at.astimezone(zone).date()] == at
        brought = min(new, _BY_SYNC.get(resource, 0) or is_morning * nightly)
        news.append((at, again, brought))
        new -= brought
    for number, (at, again, brought) in enumerate(reversed(news)):
        created, updated = (brought + new, changed) if number == 0 else (brought, 0)
        if created or updated:
            yield at, again, created, updated
