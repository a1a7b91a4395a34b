"""Demo data of users: months of nights and cycles for the demo's people.

Must not be here: what a night or a cycle looks like (users.wearables.demo).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from portal.lib.periods import find_zone
from users.models import Arrival, User
from users.operations.summaries import SummaryBatch, record_summaries
from users.states import SourceType
from users.wearables.demo import make_cycles, make_nights, make_syncs
from users.wearables.providers import PROVIDERS
from users.wearables.summaries import MENSTRUAL_CYCLE, SLEEP_CYCLE

if TYPE_CHECKING:
    from datetime import datetime

    from portal.lib.registry import DemoPerson, DemoScene
    from users.wearables.resources import SummaryResource

NIGHTS = 90
CYCLES = 6
# How long before the first loading sources are said to have sent.
SYNCED_FOR = timedelta(days=7)
_WORN = {"oura": SourceType.RING}


def load_demo_summaries(scene: DemoScene) -> None:
    """Give demo people the nights and cycles that their sources would have sent.

    Loading again brings what has happened since and changes nothing else. Every other
    person whose sources give cycles has them. All arrives as sources would have sent
    it: over the day, not in the moment of loading. Source: Ours (a newcomer sees every
    screen with something on it).
    """
    now = timezone.now()
    wanted = [person.user_uuid for person in scene.people]
    live = User.objects.for_tenant(scene.tenant).live().filter(uuid__in=wanted)
    users = {user.uuid: user for user in live.select_related("tenant__team")}
    for person in scene.people:
        slept: set[str] = set()
        for source in _sources_of(person, SLEEP_CYCLE):
            nights = make_nights(
                person=person.client_user_id,
                provider=source,
                time_zone=person.time_zone,
                now=now,
                nights=NIGHTS,
            )
            # A second source fills in where the first was not worn.
            missed = [each for each in nights if each["session_end"][:10] not in slept]
            slept |= {each["session_end"][:10] for each in missed}
            _record(scene, users[person.user_uuid], SLEEP_CYCLE, source, missed)
    keepers = [each for each in scene.people if _sources_of(each, MENSTRUAL_CYCLE)]
    for person in keepers[::2]:
        source = _sources_of(person, MENSTRUAL_CYCLE)[0]
        today = now.astimezone(find_zone(person.time_zone or "")).date()
        cycles = make_cycles(person=person.client_user_id, today=today, cycles=CYCLES)
        _record(scene, users[person.user_uuid], MENSTRUAL_CYCLE, source, cycles)


def _sources_of(person: DemoPerson, resource: SummaryResource) -> list[str]:
    return [
        source
        for source in person.sources
        if resource.slug in PROVIDERS[source].resources
    ]


def _record(
    scene: DemoScene,
    user: User,
    resource: SummaryResource,
    source: str,
    elements: list[dict[str, Any]],
) -> None:
    if not elements:
        return
    by_hand = resource is MENSTRUAL_CYCLE
    batch = SummaryBatch(
        provider=source,
        elements=elements,
        source_type=SourceType.APP if by_hand else _WORN.get(source, SourceType.WATCH),
        app_id="com.example.cycles" if by_hand else None,
    )
    with transaction.atomic():
        heard = _heard_last(user, resource, source)
        record_summaries(user=user, actor=scene.actor, resource=resource, batch=batch)
        _spread_arrival(user, resource, source, since=heard)


def _heard_last(user: User, resource: SummaryResource, source: str) -> datetime | None:
    sent = Arrival.objects.for_tenant(user.tenant).filter(
        user=user, provider=source, resource=resource.slug
    )
    last: datetime | None = sent.order_by("at").values_list("at", flat=True).last()
    return last


def _spread_arrival(
    user: User, resource: SummaryResource, source: str, *, since: datetime | None
) -> None:
    """Put in place of the batch just recorded those that would have brought it."""
    now = timezone.now()
    sent = Arrival.objects.for_tenant(user.tenant).filter(
        user=user, provider=source, resource=resource.slug
    )
    whole = sent.latest("id")
    syncs = make_syncs(
        person=user.client_user_id,
        provider=source,
        time_zone=user.fallback_time_zone,
        since=since or now - SYNCED_FOR,
        now=now,
    )
    # The first brought what was new, the others what was there already.
    made = [
        Arrival(
            tenant=user.tenant,
            user=user,
            provider=source,
            resource=resource.slug,
            at=at,
            received=again if number else whole.created + whole.updated + again,
            created=0 if number else whole.created,
            updated=0 if number else whole.updated,
            dropped=0,
        )
        for number, (at, again) in enumerate(syncs)
    ]
    whole.delete()
    Arrival.objects.for_tenant(user.tenant).bulk_create(made)
