"""Metrics of the key's team: users, sources and orders (contract 2.2).

It is in labs because one of the metrics counts orders.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from django.utils import timezone
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.queries.orders.orders import count_orders_of_live_users
from portal.lib.api.schema import describe_api_operation
from users.queries.users.metrics import get_tenant_source_metrics

if TYPE_CHECKING:
    from rest_framework.request import Request


class WeekAnswer(TypedDict):
    """A week from Monday: sources connected in it, and the total at its end."""

    date: datetime
    value: int
    all: int


class MetricsAnswer(TypedDict):
    """Metrics of the team in the key's environment."""

    team_id: UUID
    number_of_users: int
    number_of_connected_sources: int
    number_of_errored_connected_sources: int
    number_of_ordered_tests: int
    number_of_connected_sources_by_week: list[WeekAnswer]


class TeamMetricsView(TenantAPIView):
    """GET /v2/user/metrics."""

    area = Area.USERS
    also_reads = (Area.ORDERS,)

    @describe_api_operation(
        "get_team_metrics", "Get metrics of the team", answer=MetricsAnswer
    )
    def get(self, request: Request) -> Response:
        """Users, sources and orders; sources by week for the last 13, in UTC."""
        found = get_tenant_source_metrics(
            tenant=self.tenant, at=timezone.now().astimezone(UTC)
        )
        answer: MetricsAnswer = {
            "team_id": self.tenant.team_id,
            "number_of_users": found.users,
            "number_of_connected_sources": found.connected_sources,
            "number_of_errored_connected_sources": found.errored_sources,
            "number_of_ordered_tests": count_orders_of_live_users(tenant=self.tenant),
            "number_of_connected_sources_by_week": [
                {"date": week.starts_at, "value": week.connected, "all": week.live}
                for week in found.weeks
            ],
        }
        return Response(answer)
