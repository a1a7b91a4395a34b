"""Describe roles: the permission matrix, and what roles allow together.

Drawn from accounts.states, so that the pages can't say anything else. Must not be
here: a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.states import MATRIX, Access, Area, Role
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS = {
    Access.NONE: "",
    Access.READ: gettext_lazy("View"),
    Access.WRITE: gettext_lazy("View and edit"),
    Access.WRITE_SANDBOX: gettext_lazy("Sandbox only"),
}
# What is done and not looked at: whoever may, may.
_ACTION_AREAS = {Area.SIGN_REPORTS, Area.DELETE_USERS, Area.DELETE_TEAM}


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """An area and what each role may do in it, in the order of Role."""

    area: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RightsInWords:
    """What roles allow together: areas to edit and areas to view."""

    change: list[str]
    see: list[str]


def build_permission_matrix_rows() -> list[MatrixRow]:
    """Return the permission matrix; a cell is the role's name and its access."""
    return [
        MatrixRow(
            str(area.label),
            [
                (str(role.label), _describe_access(area, access))
                for role, access in row.items()
            ],
        )
        for area, row in MATRIX.items()
    ]


def describe_role_permissions(roles: Iterable[str]) -> RightsInWords:
    """Return what these roles allow together."""
    held = [Role(role) for role in roles]
    change, see = [], []
    for area, row in MATRIX.items():
        found = {row[role] for role in held}
        if Access.WRITE in found:
            change.append(str(area.label))
        elif Access.WRITE_SANDBOX in found:
            change.append(_("%(area)s (sandbox only)") % {"area": area.label})
        elif Access.READ in found:
            see.append(str(area.label))
    return RightsInWords(change, see)


def list_role_labels(roles: Iterable[str]) -> list[str]:
    """Return the labels of roles, in the order of the matrix."""
    held = set(roles)
    return [str(role.label) for role in Role if role in held]


def _describe_access(area: Area, access: Access) -> str:
    return (
        _("Yes") if area in _ACTION_AREAS and access == Access.WRITE else _WORDS[access]
    )
