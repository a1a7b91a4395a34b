"""Render forms and confirmations in a dialog, or as pages without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portal.lib.web.views import is_page_fragment_requested, render_page

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, QueryDict

    from accounts.web.requests import TenantRequest


def read_posted(request: HttpRequest) -> QueryDict | None:
    """Return the posted form, None on a GET."""
    return request.POST if request.method == "POST" else None


def render_form(
    request: TenantRequest,
    body: str,
    *,
    title: str,
    back: str,
    back_words: str,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Render the template `body` in the page's dialog, or as its own page."""
    in_dialog = is_page_fragment_requested(request)
    return render_page(
        request,
        "accounts/form_page.html",
        fragment="accounts/_dialog.html",
        status=status,
        body=body,
        title=title,
        back="" if in_dialog else back,
        back_words=back_words,
        in_dialog=in_dialog,
        action=request.path,
        **context,
    )


def render_confirmation(
    request: TenantRequest,
    *,
    title: str,
    says: str,
    verb: str,
    keep: str,
    back: str,
    back_words: str,
    match: str = "",
    match_label: str = "",
    error: str = "",
) -> HttpResponse:
    """Ask before a destructive action: `says` is the consequence, `verb` the button.

    With `match` the name must be typed; `error` says that it was not.
    """
    return render_form(
        request,
        "components/confirm.html",
        title=title,
        back=back,
        back_words=back_words,
        status=422 if error else 200,
        id="confirm",
        says=says,
        verb=verb,
        keep=keep,
        match=match,
        match_label=match_label,
        error=error,
    )


def replace_page_after_dialog(
    request: TenantRequest, response: HttpResponse, *, url: str
) -> HttpResponse:
    """Replace the whole page with the response to a dialog's form.

    For what is shown once: a redirect could not carry it. A reload asks for `url`.
    """
    if request.htmx:
        response["HX-Retarget"] = response["HX-Reselect"] = "#content"
        response["HX-Reswap"] = "outerHTML"
        response["HX-Push-Url"] = url
    return response
