"""Tables of end users and their wearable data."""

from users.models.arrival import Arrival
from users.models.link_session import LinkSession
from users.models.sample import Feed, Origin, Sample, SampleExtra, Series
from users.models.source import Connection, ConnectionQuerySet
from users.models.stream import WorkoutStream
from users.models.summary import Summary
from users.models.user import User, UserCount, UserQuerySet
from users.models.user_info import UserInfo

__all__ = [
    "Arrival",
    "Connection",
    "ConnectionQuerySet",
    "Feed",
    "LinkSession",
    "Origin",
    "Sample",
    "SampleExtra",
    "Series",
    "Summary",
    "User",
    "UserCount",
    "UserInfo",
    "UserQuerySet",
    "WorkoutStream",
]
