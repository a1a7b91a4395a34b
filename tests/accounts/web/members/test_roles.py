from __future__ import annotations

import pytest

from accounts.states import Area, Role
from accounts.web.members.roles import (
    build_permission_matrix_rows,
    describe_role_permissions,
    list_role_labels,
)


@pytest.mark.parametrize(
    ("area", "words"),
    [
        (Area.USERS, ["View and edit"] * 2 + ["View"] * 5),
        (Area.SIGN_REPORTS, ["", "", "Yes", "", "", "", ""]),
        (Area.API_KEYS, ["View and edit"] * 2 + ["", "", "Sandbox only", "", ""]),
    ],
)
def test_the_matrix_is_told_in_words(area, words):
    (row,) = [row for row in build_permission_matrix_rows() if row.area == area.label]

    assert row.cells == [
        (role.label, said) for role, said in zip(Role, words, strict=True)
    ]


def test_roles_add_up_to_what_may_be_changed_and_seen():
    rights = describe_role_permissions([Role.DEVELOPER, Role.CLINICIAN])

    assert "API keys (sandbox only)" in rights.change
    assert Area.REPORTS.label in rights.change
    assert Area.PATIENT_DETAILS.label in rights.see
    assert set(rights.change).isdisjoint(rights.see)


def test_roles_are_named_in_the_order_of_the_matrix():
    assert list_role_labels(["viewer", "owner"]) == ["Owner", "Viewer"]
