from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied

from accounts.states import Area, Role
from accounts.web.requests import Rights
from accounts.web.rights import require_right


def request_of(*roles, environment="sandbox"):
    return SimpleNamespace(rights=Rights(frozenset(roles), environment))


def test_rights_add_up_over_roles():
    rights = Rights(frozenset({Role.VIEWER, Role.CLINICIAN}), "sandbox")

    assert rights.allow(Area.SIGN_REPORTS, write=True)
    assert rights.allow(Area.BOOKINGS)
    assert not rights.allow(Area.BOOKINGS, write=True)


def test_a_right_of_the_sandbox_alone_is_none_in_production():
    developer = frozenset({Role.DEVELOPER})

    assert "api_keys" in Rights(developer, "sandbox").writes
    assert "api_keys" not in Rights(developer, "production").reads


def test_a_view_is_shut_to_roles_without_the_right():
    called = []
    view = require_right(Area.REPORTS, write=True)(called.append)

    with pytest.raises(PermissionDenied):
        view(request_of(Role.VIEWER))

    assert called == []


def test_a_view_is_open_to_roles_with_the_right():
    view = require_right(Area.REPORTS)(lambda request, job_id: job_id)

    assert view(request_of(Role.CLINICIAN), job_id="a") == "a"
