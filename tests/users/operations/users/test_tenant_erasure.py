from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.models import User
from users.operations.users.tenant_erasure import erase_all_users
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db


def test_all_users_of_a_tenant_are_erased_deleted_ones_too(
    alice_tenant, alice_production
):
    live, gone = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    delete_user(user=gone, actor=ACTOR)
    other = make_user(tenant=alice_production)

    erase_all_users(alice_tenant, ACTOR)

    assert list(User.unscoped.values_list("pk", flat=True)) == [other.pk]
    erased = AuditEntry.unscoped.filter(verb="erase_user")
    assert set(erased.values_list("user_uuid", flat=True)) == {live.uuid, gone.uuid}
