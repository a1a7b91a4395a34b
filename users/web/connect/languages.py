"""Choose the language of the connect page, and of what its user is sent."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from django.http import HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from portal.lib.errors import DomainError
from users.operations.users.languages import set_user_language
from users.web.connect.entry import get_link_holder_actor, require_connect_link_cookie

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from users.models import LinkSession


@require_POST
@require_connect_link_cookie
def choose_language(request: HttpRequest, session: LinkSession) -> HttpResponse:
    """Serve POST /connect/{session_id}/language/: emails and texts follow it too.

    Back to the page `back` of the same link, or its first.
    """
    with suppress(DomainError):  # no button of the page sends what is not offered
        set_user_language(
            user=session.user,
            actor=get_link_holder_actor(request),
            language=request.POST.get("language", ""),
        )
    first = reverse("connect:page", args=[session.uuid])
    back = request.POST.get("back", "")
    return HttpResponseRedirect(back if back.startswith(first) else first)
