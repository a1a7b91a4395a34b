"""The roles that serve, in tests: a plugin that tests/conftest.py names.

The suite connects as the owner of the tables. A module that names one of the fixtures
connects as the web server or as workers do, with their rights and no others, and has
its tenants believed by signature alone:
`pytestmark = pytest.mark.usefixtures("as_web_role")`. A PostgreSQL that is not the
bundled one has no such roles; there it stays the owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection

from portal.lib.database.roles import (
    BUNDLED_WEB_ROLE,
    BUNDLED_WORK_ROLE,
    ServingRoles,
    grant_rights_to_serving_roles,
    list_missing_roles,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.plugin import DjangoDbBlocker

ROLES = ServingRoles(BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE)
# Databases whose tables the roles may use.
_granted: set[str] = set()


@pytest.fixture(scope="module")
def as_web_role(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Connect as the web server does until the module ends."""
    yield from _connect_as(ROLES.web, django_db_blocker)


@pytest.fixture(scope="module")
def as_work_role(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Connect as workers and operators' commands do until the module ends."""
    yield from _connect_as(ROLES.work, django_db_blocker)


def _connect_as(role: str, blocker: DjangoDbBlocker) -> Iterator[None]:
    owner = connection.settings_dict["USER"]
    with blocker.unblock():
        name = connection.settings_dict["NAME"]
        if name not in _granted:
            if list_missing_roles(ROLES):
                yield
                return
            grant_rights_to_serving_roles(ROLES)
            _granted.add(name)
        connection.close()
    connection.settings_dict["USER"] = role
    try:
        yield
    finally:
        connection.settings_dict["USER"] = owner
        with blocker.unblock():
            connection.close()
