"""How a step of placing an order is shown, kept and left.

Must not be here: what any one step asks (labs.web.order_steps).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from labs.web.order_drafts import keep_draft
from labs.web.order_entry import STEPS, why_account
from labs.web.order_forms import raw_values
from portal.lib.web import go_to, page_url, render_page, wants_fragment

if TYPE_CHECKING:
    from collections.abc import Callable

    from django import forms
    from django.http import HttpResponse

    from labs.web.order_drafts import OrderDraft
    from labs.web.order_entry import OrderEntry
    from portal.lib.web import TenantRequest


def render_step(
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
            "is_done": entry.is_done(name),
            "url": address_of(request, entry.draft, name)
            if name == entry.reachable(name)
            else "",
        }
        for name in entry.steps
    ]
    return render_page(
        request,
        "labs/place_order.html",
        fragment=fragment,
        status=status or (422 if is_faulty and not wants_fragment(request) else 200),
        body=f"labs/_place_order_{step}.html",
        entry=entry,
        step=step,
        words=STEPS[step],
        number=entry.steps.index(step) + 1,
        steps=steps,
        action=address_of(request, entry.draft, step),
        why=why_account(entry),
        section="orders",
        **context,
    )


def enter_form(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    form: forms.Form,
    show: Callable[..., HttpResponse],
) -> HttpResponse:
    """Keep what was entered; go on where it is good, and back wherever it stands."""
    back = goes_back(request)
    is_good = not back and form.is_valid()
    draft = entry.draft.enter(step, raw_values(form, request.POST), is_done=is_good)
    if back or is_good:
        held = replace(entry, draft=draft)
        return go_on(request, draft, held.before(step) if back else held.after(step))
    keep_draft(request, draft)
    return show(request, entry, form)


def go_on(request: TenantRequest, draft: OrderDraft, step: str) -> HttpResponse:
    """Keep a draft and lead to a step of it."""
    keep_draft(request, draft)
    return go_to(request, address_of(request, draft, step))


def address_of(request: TenantRequest, draft: OrderDraft, step: str) -> str:
    """Where a step of a draft is; the bare page while nothing is kept."""
    path = page_url(request, "labs:place_order")
    if not draft.entries:
        return path
    return f"{path}?{urlencode({'draft': draft.token, 'step': step})}"


def goes_back(request: TenantRequest) -> bool:
    """Whether Back was pressed: what was typed is kept, good or not."""
    return request.POST.get("go") == "back"
