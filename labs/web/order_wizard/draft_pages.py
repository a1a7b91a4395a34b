"""Show, store and leave a step of the order wizard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from labs.web.order_wizard.basket import build_basket
from labs.web.order_wizard.drafts import save_order_draft
from labs.web.order_wizard.entry import STEPS, describe_lab_account_choice
from labs.web.order_wizard.forms import get_raw_form_values
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry

SEARCH_MAX = 255


def render_order_wizard_step(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    *,
    status: int = 0,
    fragment: str | None = None,
    **context: Any,
) -> HttpResponse:
    form = context.get("form")
    is_faulty = form is not None and form.is_bound and bool(form.errors)
    steps = [
        {
            "name": name,
            "words": STEPS[name],
            "is_here": name == step,
            "is_done": entry.is_step_done(name),
            "url": get_order_wizard_step_url(request, entry.draft, name)
            if name == entry.reachable_step(name)
            else "",
        }
        for name in entry.steps
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
        words=STEPS[step],
        number=entry.steps.index(step) + 1,
        steps=steps,
        action=get_order_wizard_step_url(request, entry.draft, step),
        why=describe_lab_account_choice(entry),
        basket=build_basket(entry),
        section="orders",
        **context,
    )


def save_order_wizard_step(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    form: forms.Form,
    show: Callable[..., HttpResponse],
) -> HttpResponse:
    """Store a step's values, and go on if they are valid or Back is pressed."""
    back = is_back_button_pressed(request)
    is_good = not back and form.is_valid()
    draft = entry.draft.with_step_values(
        step, get_raw_form_values(form, request.POST), is_done=is_good
    )
    if back or is_good:
        moved_entry = replace(entry, draft=draft)
        return redirect_to_order_wizard_step(
            request,
            draft,
            moved_entry.step_before(step) if back else moved_entry.next_open_step(step),
        )
    save_order_draft(request, draft)
    return show(request, entry, form)


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
    if not draft.entries:
        return path
    return f"{path}?{urlencode({'draft': draft.token, 'step': step})}"


def is_back_button_pressed(request: TenantRequest) -> bool:
    """Return whether Back was pressed."""
    return request.POST.get("go") == "back"


def read_search_text(request: TenantRequest) -> str:
    """Return the search text without null characters, which PostgreSQL refuses."""
    return request.POST.get("q", "").replace("\0", "").strip()[:SEARCH_MAX]
