"""Tables of end users and their wearable data."""

from users.models.arrival import Arrival
from users.models.cadence import Cadence
from users.models.demo_user import DemoUser
from users.models.device import Device
from users.models.erasure_receipt import ErasureReceipt
from users.models.grant import SourceGrant
from users.models.import_job import ImportJob
from users.models.link_session import LinkSession
from users.models.pull import Pull, PullQuerySet, Refresh
from users.models.sample import Feed, Origin, Sample, SampleExtra, Series
from users.models.source import Connection, ConnectionEntry, ConnectionQuerySet
from users.models.stream import WorkoutStream
from users.models.summary import Summary
from users.models.supply import Supply
from users.models.user import User, UserCount, UserQuerySet
from users.models.user_export import UserExport
from users.models.user_info import UserInfo

__all__ = [
    "Arrival",
    "Cadence",
    "Connection",
    "ConnectionEntry",
    "ConnectionQuerySet",
    "DemoUser",
    "Device",
    "ErasureReceipt",
    "Feed",
    "ImportJob",
    "LinkSession",
    "Origin",
    "Pull",
    "PullQuerySet",
    "Refresh",
    "Sample",
    "SampleExtra",
    "Series",
    "SourceGrant",
    "Summary",
    "Supply",
    "User",
    "UserCount",
    "UserExport",
    "UserInfo",
    "UserQuerySet",
    "WorkoutStream",
]
