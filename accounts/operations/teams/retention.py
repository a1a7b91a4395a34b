"""Change a team's retention rules, and delete data that is past them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import RetentionRule, Team
from accounts.operations.audit.entries import record_change, record_team_change
from accounts.queries.retention import EVENTS, list_retention_settings
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from accounts.declarations.data_classes import DataClass
    from accounts.models import Tenant

# Rows of one class and environment in one night, so that a first rule over years does
# not hold up the rest.
MOST_OF_ONE_RUN = 1_000_000
SYSTEM = Actor.system("accounts.apply_retention")


@transaction.atomic
def change_data_retention(
    *, team: Team, actor: Actor, days: Mapping[str, int | None]
) -> None:
    """Set how many days data classes are kept, in both environments.

    None: as is usual. Classes that are not named stay as they are. Raises:
    data_class_unknown, retention_invalid (`field` is the class). Source: Issue "Trust",
    5; Ours: the audit itself is not among them, as nothing of it can be taken back.
    """
    team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    known = {each.name: each for each in list_retention_settings(team)}
    changes: dict[str, object] = {}
    for name, chosen_days in days.items():
        setting = known.get(name)
        if setting is None or setting.is_fixed:
            raise DomainError(
                "data_class_unknown",
                _("Retention of this data cannot be changed."),
                name,
            )
        usual = setting.data_class.usual_days
        then = usual if chosen_days is None else chosen_days
        most = setting.data_class.most_days
        if then is not None and (then < setting.least or (most and then > most)):
            raise DomainError(
                "retention_invalid", _describe_bounds(setting.least, most), name
            )
        if then == setting.days:
            continue
        changes[name] = [setting.days, then]
        rules = RetentionRule.objects.filter(team=team, data_class=name)
        if name == EVENTS:
            team.event_retention_days = then or team.event_retention_days
            team.save(update_fields=["event_retention_days"])
        elif then is None or chosen_days is None:
            rules.delete()
        else:
            RetentionRule.objects.update_or_create(
                team=team, data_class=name, defaults={"days": then}
            )
    if changes:
        record_team_change(
            team=team,
            actor=actor,
            verb="change_retention",
            subject="team",
            subject_id=team.pk,
            changes=changes,
        )


def apply_retention(*, at: datetime) -> int:
    """Delete data past each team's retention; return how many rows.

    Over all tenants, in steps that each commit, at most MOST_OF_ONE_RUN of a class and
    environment: the next run goes on. Each environment's audit is told how many. What
    no team chose of goes by the jobs of its app.
    """
    teams = Team.objects.filter(
        pk__in=RetentionRule.objects.values("team"), erased_at=None
    )
    return sum(_apply_to_team(team, at) for team in teams.order_by("pk"))


def _apply_to_team(team: Team, at: datetime) -> int:
    ruled = set(team.retention_rules.values_list("data_class", flat=True))
    removed = 0
    for setting in list_retention_settings(team):
        if setting.name not in ruled or setting.days is None:
            continue
        before = at - timedelta(days=setting.days)
        for tenant in team.tenants.select_related("team").order_by("pk"):
            with acting_for(tenant):
                removed += _delete_old_rows(
                    tenant, setting.name, setting.data_class, before
                )
    return removed


def _delete_old_rows(
    tenant: Tenant, name: str, data_class: DataClass, before: datetime
) -> int:
    if data_class.remove is None:
        return 0
    removed = 0
    for number in data_class.remove(tenant, before):
        removed += number
        if removed >= MOST_OF_ONE_RUN:
            break
    if removed:
        record_change(
            tenant=tenant,
            actor=SYSTEM,
            verb="remove_old_data",
            subject="data_class",
            subject_id=name,
            changes={"rows": removed, "before": before.isoformat()},
        )
    return removed


def _describe_bounds(least: int, most: int | None) -> str:
    if most is None:
        return ngettext(
            "Enter at least %(least)s day.", "Enter at least %(least)s days.", least
        ) % {"least": format_number(least)}
    return _("Enter a number of days from %(least)s to %(most)s.") % {
        "least": format_number(least),
        "most": format_number(most),
    }
