"""Source priorities of a team and its users. Contract 10."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from portal.lib.api.fields import validate_post_body, validate_query_string
from portal.lib.api.schema import describe_api_operation
from users.api.v2.inputs import (
    RANKED_DATA_TYPE,
    SourcePrioritiesInputs,
    SourcePriorityInputs,
)
from users.operations.sources.priorities import save_source_priority
from users.queries import live_user
from users.queries.sources.priorities import (
    find_user_source_ranking,
    read_source_priority,
)

if TYPE_CHECKING:
    from rest_framework.request import Request

    from users.models import User


class SourcePriorityAnswer(TypedDict):
    """A ranking: slugs, those that count first first.

    `user_id` is null for that of the team. `is_own` says that a user has one of its
    own, in place of the team's.
    """

    data_type: str
    user_id: UUID | None
    source_priority: list[str]
    is_own: bool


class SourcePrioritiesView(TenantAPIView):
    """Serve GET and PATCH /v2/team/source/priorities."""

    area = Area.USERS

    @describe_api_operation(
        "get_source_priorities",
        "Read which sources count first",
        answer=list[SourcePriorityAnswer],
        query=SourcePrioritiesInputs,
        refuses=(404,),
    )
    def get(self, request: Request) -> Response:
        """The team's ranking, or with `user_id` that which counts for a user.

        Totals of timeseries are ranked; summaries are listed by source, so that other
        data types have no ranking and the list is empty.
        """
        query = validate_query_string(request, SourcePrioritiesInputs)
        user = self._find_user(query.get("user_id"))
        wanted = query.get("data_type")
        if wanted not in {None, RANKED_DATA_TYPE}:
            return Response([])
        return Response(self._describe(user))

    @describe_api_operation(
        "update_source_priorities",
        "Rank sources for a team or a user",
        answer=list[SourcePriorityAnswer],
        body=SourcePriorityInputs,
        refuses=(404,),
    )
    def patch(self, request: Request) -> Response:
        """Replace a ranking; an empty list removes it, an absent one changes nothing.

        It counts from the next call for aggregates that name no `priority`.
        """
        body = validate_post_body(request, SourcePriorityInputs)
        user = self._find_user(body.get("user_id"))
        sources = body.get("source_priority")
        if sources is not None:
            save_source_priority(
                tenant=self.tenant, actor=self.actor, sources=sources, user=user
            )
        return Response(self._describe(user))

    def _find_user(self, user_id: UUID | None) -> User | None:
        if user_id is None:
            return None
        return live_user(tenant=self.tenant, user_id=user_id)

    def _describe(self, user: User | None) -> list[SourcePriorityAnswer]:
        stored = read_source_priority(tenant=self.tenant, user=user)
        ranking = stored.sources if stored else []
        if user is not None and stored is None:
            ranking = list(find_user_source_ranking(user))
        return [
            {
                "data_type": RANKED_DATA_TYPE,
                "user_id": user.uuid if user else None,
                "source_priority": ranking,
                "is_own": stored is not None,
            }
        ]
