from __future__ import annotations

import pytest

from accounts.declarations import go_live as declared
from accounts.declarations.go_live import (
    GoLiveCheck,
    GoLiveFinding,
    GoLiveGroup,
    GoLiveResult,
    GoLiveState,
    list_go_live_checks,
)
from accounts.models import GoLiveTry
from accounts.operations import go_live as operations
from accounts.operations.go_live import try_go_live_checks
from accounts.queries import go_live as queries
from accounts.queries.go_live import build_go_live_report
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR, make_tenant

pytestmark = pytest.mark.django_db

FINDINGS = {
    "well": GoLiveFinding(GoLiveState.READY, "%(number)s of them."),
    "broken": GoLiveFinding(GoLiveState.FAILED, "Broken.", "Mend it.", "Refused."),
    "few": GoLiveFinding(GoLiveState.LOW, "Few."),
}


def make_check(name, **options):
    return GoLiveCheck(
        name=name,
        group=GoLiveGroup.LABS,
        rank=1,
        title=name,
        icon="bolt",
        findings=FINDINGS,
        **options,
    )


@pytest.fixture
def checks(monkeypatch):
    """Call it to replace the checks of the apps."""

    def replace(*checks):
        for module in (operations, queries):
            monkeypatch.setattr(module, "list_go_live_checks", lambda: checks)

    return replace


def states(tenant):
    points = build_go_live_report(tenant).points
    return {point.check.name: point.state.value for point in points}


def rows(tenant):
    return list(GoLiveTry.objects.for_tenant(tenant).values_list("name", "code"))


def found(code, **figures):
    return lambda *_arguments: GoLiveResult(code, figures)


def test_a_try_is_kept_with_who_and_when_and_replaces_the_last(
    alice, alice_production, checks
):
    results = [GoLiveResult("broken"), GoLiveResult("well", {"number": 3})]
    checks(make_check("gate", attempt=lambda *_: results.pop(0)))
    actor = Actor(ActorKind.MEMBER, str(alice.pk), alice.email)
    assert states(alice_production) == {"gate": "not_tried"}

    try_go_live_checks(tenant=alice_production, actor=actor)
    first = states(alice_production)
    try_go_live_checks(tenant=alice_production, actor=actor, name="gate")

    (point,) = build_go_live_report(alice_production).points
    assert (first, point.state, point.says) == (
        {"gate": "failed"},
        GoLiveState.READY,
        "3 of them.",
    )
    assert point.last_try.member == alice
    assert rows(alice_production) == [("gate", "well")]
    tried = [line for line in audited(alice_production) if line[1] == "go_live"]
    assert tried == [
        ("try_go_live_checks", "go_live", "all"),
        ("try_go_live_checks", "go_live", "gate"),
    ]


def test_what_is_read_now_wins_over_the_last_try(alice_production, checks):
    check = make_check("gate", attempt=found("well", number=1))
    checks(check)
    try_go_live_checks(tenant=alice_production, actor=ACTOR)

    checks(make_check("gate", attempt=check.attempt, read=found("broken")))

    assert states(alice_production) == {"gate": "failed"}


def test_a_code_that_no_release_has_any_more_was_not_tried(alice_production, checks):
    checks(make_check("gate", attempt=found("gone")))

    try_go_live_checks(tenant=alice_production, actor=ACTOR)

    assert states(alice_production) == {"gate": "not_tried"}


def test_a_check_that_only_starts_something_keeps_no_result(alice_production, checks):
    checks(make_check("hook", attempt=lambda *_: None, read=found("few")))

    try_go_live_checks(tenant=alice_production, actor=ACTOR)

    assert (rows(alice_production), states(alice_production)) == ([], {"hook": "low"})
    assert changes_of(alice_production, "try_go_live_checks") == {}


def test_open_checks_that_refuse_calls_come_first(alice_production, checks):
    checks(
        make_check("one", read=found("few")),
        make_check("two", read=found("well", number=1)),
        make_check("three", read=found("broken")),
    )

    report = build_go_live_report(alice_production)

    assert [point.check.name for point in report.open] == ["three", "one"]
    assert [point.check.name for point in report.refusing] == ["three"]


def test_a_try_is_of_one_tenant(alice_production, charlie_team, checks):
    charlie_production = make_tenant(team=charlie_team, environment="production")
    checks(make_check("gate", attempt=found("well", number=1)))

    try_go_live_checks(tenant=alice_production, actor=ACTOR)

    assert states(charlie_production) == {"gate": "not_tried"}
    assert rows(charlie_production) == []


def test_a_sandbox_is_refused(alice_tenant, checks):
    checks(make_check("gate", attempt=found("well", number=1)))

    with pytest.raises(DomainError) as caught:
        try_go_live_checks(tenant=alice_tenant, actor=ACTOR)

    assert caught.value.code == "go_live_in_sandbox"
    assert (rows(alice_tenant), audited(alice_tenant)) == ([], [])


def test_an_unknown_check_is_refused(alice_production, checks):
    checks(make_check("gate", attempt=found("well", number=1)))

    with pytest.raises(DomainError) as caught:
        try_go_live_checks(tenant=alice_production, actor=ACTOR, name="gates")

    assert caught.value.code == "go_live_check_not_found"
    assert (rows(alice_production), audited(alice_production)) == ([], [])


def test_two_checks_of_one_name_are_refused(monkeypatch):
    checks = (make_check("gate"), make_check("gate"))
    monkeypatch.setattr(
        declared, "import_declarations", lambda *_names: {"labs": checks}
    )

    with pytest.raises(ValueError, match="one name"):
        list_go_live_checks.__wrapped__()


def test_every_check_says_what_it_finds_and_where_it_is_done():
    checks = list_go_live_checks()

    assert [check.name for check in checks] == [
        "lab_account",
        "tests",
        "gateway",
        "physician",
        "service_centers",
        "home_visits",
        "kit_stock",
        "webhooks",
        "mail",
        "critical_results",
        "encryption_keys",
        "backup",
    ]
    for check in checks:
        assert check.read or check.attempt
        assert bool(check.path_name) != bool(check.guide)
        assert bool(check.path_name) == bool(check.path_words)
        for finding in check.findings.values():
            assert finding.helps or not finding.state.is_open
