"""Show, store and leave a step of the order wizard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from labs.web.order_wizard.account_options import describe_lab_account_choice
from labs.web.order_wizard.basket import build_basket
from labs.web.order_wizard.drafts import is_order_draft_saved, save_order_draft
from labs.web.order_wizard.entry import STEPS
from labs.web.order_wizard.forms import get_raw_form_values
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry

SEARCH_MAX = 255
STEP_OF_PAGE = {"user": "patient"}
_FORMS = ("form", "insurance", "questions")


def render_order_wizard_step(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    *,
    status: int = 0,
    fragment: str | None = None,
    **context: Any,
) -> HttpResponse:
    forms_shown = [context[name] for name in _FORMS if context.get(name) is not None]
    is_faulty = any(form.is_bound and form.errors for form in forms_shown)
    here = STEP_OF_PAGE.get(step, step)
    steps = [
        {
            "name": name,
            "words": words,
            "note": _describe_step(entry, name),
            "is_here": name == here,
            "is_done": entry.is_step_done(name),
            "url": get_order_wizard_step_url(request, entry.draft, name)
            if name == entry.reachable_step(name)
            else "",
        }
        for name, words in STEPS.items()
    ]
    return render_page(
        request,
        "labs/place_order.html",
        fragment=fragment,
        status=status
        or (422 if is_faulty and not is_page_fragment_requested(request) else 200),
        body=f"labs/_place_order_{step}.html",
        entry=entry,
        step=step,
        words=STEPS[here],
        number=list(STEPS).index(here) + 1,
        steps=steps,
        action=get_order_wizard_step_url(request, entry.draft, step),
        user_step_url=get_order_wizard_step_url(request, entry.draft, "user"),
        basket=build_basket(entry),
        section="orders",
        **context,
    )


def _describe_step(entry: OrderEntry, step: str) -> str:
    """Return what a step holds so far, in a few words."""
    if step == "patient" and entry.user:
        return entry.user.client_user_id
    if step == "tests" and entry.lab and entry.markers:
        return entry.lab.name
    if step == "lab" and entry.is_step_done("lab"):
        return describe_lab_account_choice(entry.account)
    return _("As it will print") if step == "review" else ""


def save_order_wizard_step(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    forms_of_step: Mapping[str, forms.Form],
    show: Callable[[OrderEntry], HttpResponse],
) -> HttpResponse:
    """Store a step's forms by name, and go on if all are valid or Back is pressed."""
    back = is_back_button_pressed(request)
    valid = [not back and form.is_valid() for form in forms_of_step.values()]
    draft = entry.draft.with_values(
        **{
            name: get_raw_form_values(form, request.POST)
            for name, form in forms_of_step.items()
        }
    ).with_step_done(step, is_done=all(valid))
    moved_entry = replace(entry, draft=draft)
    if back or all(valid):
        return redirect_to_order_wizard_step(
            request,
            draft,
            moved_entry.step_before(step) if back else moved_entry.next_open_step(step),
        )
    save_order_draft(request, draft)
    return show(moved_entry)


def redirect_to_order_wizard_step(
    request: TenantRequest, draft: OrderDraft, step: str
) -> HttpResponse:
    """Store a draft and redirect to one of its steps."""
    save_order_draft(request, draft)
    return redirect_browser(request, get_order_wizard_step_url(request, draft, step))


def get_order_wizard_step_url(
    request: TenantRequest, draft: OrderDraft, step: str
) -> str:
    """Return the address of a draft's step."""
    path = page_url(request, "labs:place_order")
    if not is_order_draft_saved(request, draft):
        # A user that the address names is not stored before the first POST.
        named = request.GET.get("user", "") if step != "user" else ""
        return f"{path}?{urlencode({'user': named})}" if named else path
    return f"{path}?{urlencode({'draft': draft.token, 'step': step})}"


def is_back_button_pressed(request: TenantRequest) -> bool:
    """Return whether Back was pressed."""
    return request.POST.get("go") == "back"


def read_search_text(request: TenantRequest) -> str:
    """Return the search text without null characters, which PostgreSQL refuses."""
    return request.POST.get("q", "").replace("\0", "").strip()[:SEARCH_MAX]
