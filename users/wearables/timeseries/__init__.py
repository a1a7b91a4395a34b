"""The 50 timeseries resources of contract 5.2, by the slug of their path."""

from users.wearables.timeseries.activity import ACTIVITY, WORKOUTS
from users.wearables.timeseries.body import BODY, WELLBEING
from users.wearables.timeseries.metabolism import METABOLISM
from users.wearables.timeseries.resources import (
    Aggregation,
    Group,
    TimeseriesResource,
)
from users.wearables.timeseries.vitals import BREATHING, HEART

# In the order people see them: group by group.
TIMESERIES: dict[str, TimeseriesResource] = {
    resource.slug: resource
    for resource in (
        *ACTIVITY,
        *WORKOUTS,
        *HEART,
        *BREATHING,
        *BODY,
        *METABOLISM,
        *WELLBEING,
    )
}

__all__ = ["TIMESERIES", "Aggregation", "Group", "TimeseriesResource"]
