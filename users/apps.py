"""The users app."""

from __future__ import annotations

from django.apps import AppConfig


class UsersConfig(AppConfig):
    """See the package docstring."""

    name = "users"

    def ready(self) -> None:
        """Hand on what other pages show of users."""
        self._enter_pages()

    def _enter_pages(self) -> None:
        from accounts.states import Area
        from portal.lib.registry import (
            Destination,
            Search,
            destinations,
            overview_parts,
            searches,
        )
        from users.web.overview import overview_part
        from users.web.palette import find_users

        overview_parts.add("users", overview_part)
        searches.add("users", Search(10, "Users", "users", Area.USERS, find_users))
        destinations.add(
            "users", Destination(20, "Users", "users", "users:list", area=Area.USERS)
        )
        destinations.add(
            "users:resolve",
            Destination(
                120,
                "Resolve a client user id",
                "search",
                "users:resolve",
                area=Area.USERS,
                is_action=True,
            ),
        )
