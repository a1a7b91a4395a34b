"""Tables of end users and, later, their wearable data."""

from users.models.source import Connection, ConnectionQuerySet
from users.models.user import User, UserCount, UserQuerySet
from users.models.user_info import UserInfo

__all__ = [
    "Connection",
    "ConnectionQuerySet",
    "User",
    "UserCount",
    "UserInfo",
    "UserQuerySet",
]
