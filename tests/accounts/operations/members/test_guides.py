from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from accounts.operations.members.guides import (
    Guide,
    is_guide_hidden,
    set_guide_hidden,
)
from accounts.operations.members.profile import use_time_zone
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError

pytestmark = pytest.mark.django_db


def test_a_guide_is_hidden_once_and_shown_again(alice, alice_tenant):
    about = {"member": alice, "tenant": alice_tenant, "guide": "desk_tour"}
    for _twice in range(2):
        member = set_guide_hidden(**about, is_hidden=True)
    assert member.hidden_guides == ["desk_tour"]
    assert is_guide_hidden(member=member, tenant=alice_tenant, guide=Guide.DESK_TOUR)

    member = set_guide_hidden(**about, is_hidden=False)
    assert member.hidden_guides == []

    with pytest.raises(DomainError) as refusal:
        set_guide_hidden(**{**about, "guide": "unknown"}, is_hidden=True)
    assert refusal.value.code == "guide_unknown"


def test_a_time_zone_is_audited_and_an_unknown_one_refused(alice, alice_tenant):
    actor = Actor(ActorKind.MEMBER, str(alice.pk), alice.email)
    with pytest.raises(DomainError) as refusal:
        use_time_zone(member=alice, actor=actor, time_zone="Mars/Olympus")
    assert refusal.value.code == "time_zone_unknown"

    use_time_zone(member=alice, actor=actor, time_zone="Asia/Tokyo")

    (entry,) = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="change_profile")
    assert entry.changes == {"time_zone": ["", "Asia/Tokyo"]}
