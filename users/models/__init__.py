"""Tables of end users and, later, their wearable data."""

from users.models.user import User, UserCount, UserQuerySet

__all__ = ["User", "UserCount", "UserQuerySet"]
