"""Operators' page of what each team has in the queue, and of the budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from portal.lib.budgets import HEAVY_QUEUES, HEAVY_REQUESTS
from portal.lib.database import rows

if TYPE_CHECKING:
    from django.http import HttpRequest

_SHOWN = 100
# Of jobs without a team those that run by the clock.
_QUEUED = """
    SELECT team.name, tenant.environment, found.running, found.due, found.later,
        found.oldest
    FROM (
        SELECT (args ->> 'tenant_pk')::bigint AS tenant_id,
            count(*) FILTER (WHERE status = 'doing') AS running,
            count(*) FILTER (WHERE status = 'todo' AND is_due) AS due,
            count(*) FILTER (WHERE status = 'todo' AND NOT is_due) AS later,
            min(at) FILTER (WHERE status = 'todo' AND is_due) AS oldest
        FROM procrastinate_jobs AS job
        CROSS JOIN LATERAL (
            SELECT coalesce(scheduled_at, now()) <= now() AS is_due
        ) AS due
        LEFT JOIN LATERAL (
            SELECT min(event.at) AS at FROM procrastinate_events AS event
            WHERE event.job_id = job.id AND event.type = 'deferred'
        ) AS queued ON status = 'todo' AND is_due
        WHERE status IN ('todo', 'doing')
        GROUP BY 1
    ) AS found
    LEFT JOIN accounts_tenant AS tenant ON tenant.id = found.tenant_id
    LEFT JOIN accounts_team AS team ON team.id = tenant.team_id
    ORDER BY found.running + found.due DESC, found.later DESC, found.tenant_id
    LIMIT %s
"""


def show_teams_at_work(request: HttpRequest) -> TemplateResponse:
    """Show jobs by team, the most first, and what one team may have at once."""
    return TemplateResponse(
        request,
        "admin/teams_at_work.html",
        {
            **admin.site.each_context(request),
            "title": _("Queue and budgets"),
            "teams": [
                {
                    "name": name,
                    "environment": environment,
                    "running": running,
                    "due": due,
                    "later": later,
                    "oldest": oldest,
                }
                for name, environment, running, due, later, oldest in rows.fetch_rows(
                    _QUEUED, [_SHOWN]
                )
            ],
            "budgets": HEAVY_REQUESTS,
            "heavy_queues": HEAVY_QUEUES,
        },
    )
