"""The summary resources of contract 4, by slug: fields, identity and dates of each."""

from users.wearables.resources import SummaryResource
from users.wearables.summaries.cycles import MENSTRUAL_CYCLE
from users.wearables.summaries.days import ACTIVITY, BODY, PROFILE
from users.wearables.summaries.sessions import ELECTROCARDIOGRAM, MEAL, WORKOUTS
from users.wearables.summaries.sleep import SLEEP, SLEEP_CYCLE

SUMMARIES: dict[str, SummaryResource] = {
    resource.slug: resource
    for resource in (
        MENSTRUAL_CYCLE,
        SLEEP_CYCLE,
        ACTIVITY,
        SLEEP,
        BODY,
        WORKOUTS,
        MEAL,
        ELECTROCARDIOGRAM,
        PROFILE,
    )
}

__all__ = [
    "ACTIVITY",
    "BODY",
    "ELECTROCARDIOGRAM",
    "MEAL",
    "MENSTRUAL_CYCLE",
    "PROFILE",
    "SLEEP",
    "SLEEP_CYCLE",
    "SUMMARIES",
    "WORKOUTS",
]
