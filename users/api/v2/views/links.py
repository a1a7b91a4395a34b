"""Links by which users connect their own sources (contract 3.6)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from django.urls import reverse
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from portal.lib.api.fields import validate_post_body, validate_query_string
from portal.lib.api.schema import describe_api_operation
from portal.lib.web.links import build_absolute_url
from users.api.link_token import LinkAPIView
from users.api.v2.inputs import LinkCodeInputs, LinkTokenInputs
from users.api.v2.outputs import (
    LinkCode,
    LinkProvider,
    LinkToken,
    build_link_provider_response,
)
from users.operations.connect.link_sessions import (
    LinkRequest,
    build_connect_link_url,
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.connect.linking import (
    find_connectable_source,
    list_connect_page_sources,
)
from users.operations.phones.pairing import create_pairing_code
from users.queries import live_user
from users.states.links import Way

if TYPE_CHECKING:
    from rest_framework.request import Request


class LinkTokenView(TenantAPIView):
    """Serve POST /v2/link/token."""

    area = Area.USERS

    @describe_api_operation(
        "create_link_token",
        "Make a link by which a user connects sources",
        body=LinkTokenInputs,
        answer=LinkToken,
        refuses=(404,),
    )
    def post(self, request: Request) -> Response:
        """The link expires after 1 hour. It can connect several sources.

        The page redirects to `redirect_url` (https) after a source is connected, with
        `state=success` and `provider`; with `on_error` and `on_close` also after an
        error (`state=error`, `error`) or when closed (`state=closed`).
        """
        body = validate_post_body(request, LinkTokenInputs)
        user = live_user(tenant=self.tenant, user_id=body["user_id"])
        session = create_connect_link(
            user=user,
            actor=self.actor,
            request=LinkRequest(
                provider=body.get("provider", ""),
                filter_on_providers=tuple(body.get("filter_on_providers", ())),
                redirect_url=body.get("redirect_url", ""),
                redirects_on_error="on_error" in body,
                redirects_on_close="on_close" in body,
            ),
        )
        return Response(
            {
                "link_token": sign_connect_link_token(session),
                "link_web_url": build_connect_link_url(session),
            }
        )


class LinkCodeView(TenantAPIView):
    """Serve POST /v2/link/code/create."""

    area = Area.USERS

    @describe_api_operation(
        "create_link_code",
        "Make a code that pairs a user's phone",
        query=LinkCodeInputs,
        answer=LinkCode,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        """The code expires after 10 minutes and pairs one phone.

        The app sends it to `exchange_url` as `{"code": …}` and gets tokens of the user.
        An earlier code of the user ends. `expires_at` is at most one hour ahead.
        """
        query = validate_query_string(request, LinkCodeInputs)
        user = live_user(tenant=self.tenant, user_id=query["user_id"])
        new = create_pairing_code(
            user=user, actor=self.actor, expires_at=_as_moment(query.get("expires_at"))
        )
        return Response(
            {
                "code": new.code,
                "exchange_url": build_absolute_url(reverse("phone_pair")),
                "expires_at": new.expires_at,
            }
        )


class LinkProvidersView(LinkAPIView):
    """Serve GET /v2/link/providers, with `x-link-token` instead of a key."""

    @describe_api_operation(
        "list_link_providers",
        "List the sources that a link offers",
        answer=list[LinkProvider],
    )
    def get(self, request: Request) -> Response:
        """Sources that can be connected now, by name.

        `oauth_url` opens the source's sign-in, which returns to the link's page.
        """
        session = self.session
        offered = list_connect_page_sources(session)
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="sources",
            subject_id=session.user.uuid,
            user_uuid=session.user.uuid,
        )
        return Response(
            [
                build_link_provider_response(session, each)
                for each in offered
                if each.ways
            ]
        )


class LinkOAuthView(LinkAPIView):
    """Serve GET /v2/link/provider/oauth/{provider}, with `x-link-token`."""

    @describe_api_operation(
        "get_link_provider",
        "Read a source of a link, with the URL of its sign-in",
        answer=LinkProvider,
        refuses=(404,),
    )
    def get(self, request: Request, provider: str) -> Response:
        """`oauth_url` opens the source's sign-in in the user's browser."""
        session = self.session
        offered = find_connectable_source(session, provider.lower(), Way.SIGN_IN)
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="sources",
            subject_id=session.user.uuid,
            user_uuid=session.user.uuid,
        )
        return Response(build_link_provider_response(session, offered))


def _as_moment(given: date | datetime | None) -> datetime | None:
    """Return a moment of the query; without an offset it is UTC, a date its start."""
    if given is None:
        return None
    if not isinstance(given, datetime):
        given = datetime.combine(given, time())
    return given if given.tzinfo else given.replace(tzinfo=UTC)
