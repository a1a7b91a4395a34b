"""Tables of end users and their wearable data."""

from users.models.data.annotation import Annotation
from users.models.data.sample import (
    Feed,
    Origin,
    PackedDay,
    Sample,
    SampleExtra,
    Series,
)
from users.models.data.stream import WorkoutStream
from users.models.data.summary import Summary
from users.models.demo_user import DemoUser
from users.models.erasure_receipt import ErasureReceipt
from users.models.import_job import ImportJob
from users.models.moved_user import MovedUser
from users.models.parity_report import ParityReport
from users.models.phones.pairing_code import PairingCode
from users.models.phones.phone import Phone
from users.models.phones.piece import PhonePiece
from users.models.phones.upload import PhoneUpload
from users.models.record_number import RecordNumber
from users.models.sources.announcement import Announcement
from users.models.sources.arrival import Arrival
from users.models.sources.bulk_operation import BulkOperation
from users.models.sources.cadence import Cadence
from users.models.sources.credentials import (
    SourceBudget,
    SourceCredentials,
    SourcePushKey,
)
from users.models.sources.device import Device
from users.models.sources.gap import SourceGap
from users.models.sources.grant import SourceGrant
from users.models.sources.link_session import LinkSession
from users.models.sources.priority import SourcePriority
from users.models.sources.pull import Pull, PullQuerySet, Refresh
from users.models.sources.pushed_content import PushedContent
from users.models.sources.source import Connection, ConnectionEntry, ConnectionQuerySet
from users.models.sources.source_day import SourceDay
from users.models.sources.supply import Supply
from users.models.user import User, UserCount, UserQuerySet
from users.models.user_export import UserExport
from users.models.user_info import UserInfo

__all__ = [
    "Annotation",
    "Announcement",
    "Arrival",
    "BulkOperation",
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
    "MovedUser",
    "Origin",
    "PackedDay",
    "PairingCode",
    "ParityReport",
    "Phone",
    "PhonePiece",
    "PhoneUpload",
    "Pull",
    "PullQuerySet",
    "PushedContent",
    "RecordNumber",
    "Refresh",
    "Sample",
    "SampleExtra",
    "Series",
    "SourceBudget",
    "SourceCredentials",
    "SourceDay",
    "SourceGap",
    "SourceGrant",
    "SourcePriority",
    "SourcePushKey",
    "Summary",
    "Supply",
    "User",
    "UserCount",
    "UserExport",
    "UserInfo",
    "UserQuerySet",
    "WorkoutStream",
]
