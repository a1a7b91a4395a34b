"""Order wizard: four steps, with the draft kept between them.

A POST stores what was entered and redirects to the next step, so Back, reload and a
second tab lose nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from labs.web.order_wizard.choice_of_tests import (
    show_order_tests_step,
    submit_order_tests_step,
)
from labs.web.order_wizard.drafts import (
    create_order_draft,
    find_order_draft,
    lock_order_drafts,
)
from labs.web.order_wizard.entry import PAGES, load_order_draft_records
from labs.web.order_wizard.lab_step import show_order_lab_step, submit_order_lab_step
from labs.web.order_wizard.patient_step import (
    choose_named_user,
    show_order_patient_step,
    show_order_user_step,
    submit_order_patient_step,
    submit_order_user_step,
)
from labs.web.order_wizard.review_step import (
    redirect_to_placed_order,
    show_order_review_step,
    submit_order_review_step,
)
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.entry import OrderEntry

    StepView = Callable[["TenantRequest", "OrderEntry"], HttpResponse]


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def place_order_page(request: TenantRequest) -> HttpResponse:
    if request.method == "POST" and request.GET.get("step") == "tests":
        # Quick presses on one page arrive together, and each changes the same draft.
        with lock_order_drafts(request):
            return _answer_order_page(request)
    return _answer_order_page(request)


def _answer_order_page(request: TenantRequest) -> HttpResponse:
    token = request.GET.get("draft", "")
    draft = find_order_draft(request, token) if token else create_order_draft()
    if draft is None:
        messages.error(request, _("This draft has expired. Start a new order."))
        return redirect_browser(request, page_url(request, "labs:place_order"))
    if draft.placed:
        return redirect_to_placed_order(request, draft.placed)
    requested_step = request.GET.get("step", "")
    if not token and "user" not in request.POST:
        draft = choose_named_user(request, draft)
        requested_step = "patient"
    entry = load_order_draft_records(tenant=request.tenant, draft=draft)
    step = entry.reachable_step(requested_step if requested_step in PAGES else "user")
    if request.method == "POST":
        return _SUBMIT_STEP[step](request, entry)
    return _SHOW_STEP[step](request, entry)


_SHOW_STEP: dict[str, StepView] = {
    "user": show_order_user_step,
    "patient": show_order_patient_step,
    "tests": show_order_tests_step,
    "lab": show_order_lab_step,
    "review": show_order_review_step,
}
_SUBMIT_STEP: dict[str, StepView] = {
    "user": submit_order_user_step,
    "patient": submit_order_patient_step,
    "tests": submit_order_tests_step,
    "lab": submit_order_lab_step,
    "review": submit_order_review_step,
}
