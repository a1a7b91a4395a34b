from __future__ import annotations

import pytest

from accounts.states import MATRIX, Access, Area, Environment, Role, roles_allow_access


def test_every_area_says_what_every_role_may_do():
    assert set(MATRIX) == set(Area)
    assert all(set(row) == set(Role) for row in MATRIX.values())


@pytest.mark.parametrize(
    ("roles", "area", "write", "environment", "allowed"),
    [
        ([Role.VIEWER], Area.USERS, False, "production", True),
        ([Role.VIEWER], Area.USERS, True, "production", False),
        ([Role.VIEWER], Area.REPORTS, False, "sandbox", False),
        ([Role.CLINICIAN], Area.SIGN_REPORTS, True, "production", True),
        ([Role.OWNER], Area.SIGN_REPORTS, True, "production", False),
        ([Role.OWNER, Role.CLINICIAN], Area.SIGN_REPORTS, True, "production", True),
        ([Role.DEVELOPER], Area.API_KEYS, True, "sandbox", True),
        ([Role.DEVELOPER], Area.API_KEYS, True, "production", False),
        ([Role.DEVELOPER], Area.API_KEYS, False, "production", False),
        ([Role.ADMIN], Area.DELETE_TEAM, True, "sandbox", False),
        ([Role.OWNER], Area.AUDIT, True, "sandbox", False),
        ([], Area.USERS, False, "sandbox", False),
    ],
)
def test_a_right_is_the_most_that_any_role_gives(
    roles, area, write, environment, allowed
):
    assert roles_allow_access(
        roles=roles, area=area, write=write, environment=environment
    ) is (allowed)


def test_only_the_developer_has_a_right_that_ends_at_the_sandbox():
    found = {
        (area, role)
        for area, row in MATRIX.items()
        for role, access in row.items()
        if access is Access.WRITE_SANDBOX
    }

    assert found == {(Area.API_KEYS, Role.DEVELOPER)}
    assert set(Environment) == {"sandbox", "production"}
