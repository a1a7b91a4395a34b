"""Pages of lab accounts: list, add, edit, change status, choose teams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.operations.accounts import (
    change_lab_account_status,
    create_lab_account,
    set_lab_account_teams,
    update_lab_account,
)
from labs.queries.accounts import AccountFilters, list_organisation_lab_accounts
from labs.queries.catalogue import list_labs
from labs.states.accounts import US_STATES, Billing, DelegatedFlow, LabAccountStatus
from labs.web.accounts.forms import (
    INITIAL,
    AccountFilterForm,
    AccountForm,
    AccountStatusForm,
    AccountTeamsForm,
    NewAccountForm,
    build_account_form_values,
    format_us_states,
)
from labs.web.columns import LAB_ACCOUNTS
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.filters import FilterBar, ListFilter, build_choices

if TYPE_CHECKING:
    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import LabAccount

BACK_WORDS = gettext_lazy("Lab accounts")


@dataclass(frozen=True, slots=True)
class AccountRow:
    """A lab account as a table row; `billing` pairs billing types with states."""

    account: LabAccount
    name: str
    flow: str
    billing: tuple[tuple[str, str], ...]
    teams: tuple[str, ...]
    is_linked_to_team: bool


@require_GET
@require_right(Area.CATALOGUE)
def show_lab_accounts(request: TenantRequest) -> HttpResponse:
    filters = AccountFilterForm(request.GET).filters
    accounts = list_organisation_lab_accounts(tenant=request.tenant, filters=filters)
    columns = read_list_columns(request, LAB_ACCOUNTS)
    labs = list_labs(tenant=request.tenant)
    return render_page(
        request,
        "labs/lab_accounts.html",
        columns=columns,
        rows=columns.sort_rows(
            _build_account_row(account, request) for account in accounts
        ),
        bar=FilterBar(
            (
                ListFilter(
                    "lab",
                    _("Lab"),
                    filters.lab_slug,
                    build_choices((lab.slug, lab.name) for lab in labs),
                ),
                ListFilter(
                    "status",
                    _("Status"),
                    filters.status,
                    build_choices(LabAccountStatus.offered()),
                ),
                ListFilter(
                    "state",
                    _("State"),
                    filters.state,
                    tuple((state, state) for state in sorted(US_STATES)),
                ),
            ),
            text=filters.text,
            label=_("Search lab accounts"),
            placeholder=_("Name or number"),
        ),
        is_filtered=filters != AccountFilters(),
        section="lab_accounts",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def add_lab_account(request: TenantRequest) -> HttpResponse:
    form = NewAccountForm(read_posted(request), tenant=request.tenant, initial=INITIAL)
    if request.method == "POST" and form.is_valid():
        try:
            account = create_lab_account(
                tenant=request.tenant,
                actor=request.actor,
                lab=form.cleaned_data["lab"],
                request=form.account_request,
            )
        except DomainError as refusal:
            _add_refusal(form, refusal)
        else:
            messages.success(
                request,
                _("%(account)s added. Its status is pending.")
                % {"account": _account_label(account)},
            )
            return redirect_browser(request, page_url(request, "labs:accounts"))
    return _render_dialog(
        request, "_lab_account", _("Add lab account"), form, verb=_("Add account")
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def edit_lab_account(request: TenantRequest, account_id: str) -> HttpResponse:
    account = _get_account(request, account_id)
    form = AccountForm(read_posted(request), initial=build_account_form_values(account))
    if request.method == "POST" and form.is_valid():
        try:
            update_lab_account(
                tenant=request.tenant,
                actor=request.actor,
                account=account,
                request=form.account_request,
            )
        except DomainError as refusal:
            _add_refusal(form, refusal)
        else:
            messages.success(
                request, _("%(account)s saved.") % {"account": _account_label(account)}
            )
            return redirect_browser(request, page_url(request, "labs:accounts"))
    title = _("Edit %(account)s") % {"account": _account_label(account)}
    return _render_dialog(request, "_lab_account", title, form, verb=_("Save account"))


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def edit_lab_account_status(request: TenantRequest, account_id: str) -> HttpResponse:
    account = _get_account(request, account_id)
    form = AccountStatusForm(account, read_posted(request))
    if request.method == "POST" and form.is_valid():
        to = LabAccountStatus(form.cleaned_data["status"])
        try:
            change_lab_account_status(
                tenant=request.tenant, actor=request.actor, account=account, to=to
            )
        except DomainError as refusal:
            form.add_error("status", refusal.message)
        else:
            messages.success(
                request,
                _("%(account)s: %(status)s.")
                % {"account": _account_label(account), "status": to.label},
            )
            return redirect_browser(request, page_url(request, "labs:accounts"))
    title = _("Status of %(account)s") % {"account": _account_label(account)}
    return _render_dialog(request, "_lab_account_status", title, form, account=account)


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def edit_lab_account_teams(request: TenantRequest, account_id: str) -> HttpResponse:
    account = _get_account(request, account_id)
    linked = [link.team_id for link in account.team_links.all()]
    form = AccountTeamsForm(account, read_posted(request), initial={"teams": linked})
    if request.method == "POST" and form.is_valid():
        set_lab_account_teams(
            tenant=request.tenant,
            actor=request.actor,
            account=account,
            team_ids=[team.pk for team in form.cleaned_data["teams"]],
        )
        messages.success(
            request,
            _("Teams of %(account)s saved.") % {"account": _account_label(account)},
        )
        return redirect_browser(request, page_url(request, "labs:accounts"))
    title = _("Teams of %(account)s") % {"account": _account_label(account)}
    return _render_dialog(request, "_lab_account_teams", title, form)


def _render_dialog(
    request: TenantRequest, body: str, title: str, form: forms.Form, **context: Any
) -> HttpResponse:
    return render_form(
        request,
        f"labs/{body}.html",
        title=title,
        back=page_url(request, "labs:accounts"),
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        **context,
    )


def _add_refusal(form: forms.Form, refusal: DomainError) -> None:
    known = refusal.field in form.fields
    form.add_error(refusal.field if known else "provider_account_id", refusal.message)


def _get_account(request: TenantRequest, account_id: str) -> LabAccount:
    try:
        account_uuid = UUID(account_id)
    except ValueError:
        raise Http404 from None
    found = list_organisation_lab_accounts(
        tenant=request.tenant, account_id=account_uuid
    )
    if not found:
        raise Http404
    return found[0]


def _build_account_row(account: LabAccount, request: TenantRequest) -> AccountRow:
    links = list(account.team_links.all())
    flow = DelegatedFlow.known(account.delegated_flow)
    kinds = {kind: Billing.known(kind) for kind in account.allowed_billing}
    return AccountRow(
        account=account,
        name=_account_label(account),
        flow=str(flow.label) if flow else account.delegated_flow,
        billing=tuple(
            (str(known.label) if known else kind, _describe_states(account, kind))
            for kind, known in kinds.items()
        ),
        teams=tuple(sorted(link.team.name for link in links)),
        is_linked_to_team=request.tenant.team_id in {link.team_id for link in links},
    )


def _describe_states(account: LabAccount, kind: str) -> str:
    states = format_us_states(account.allowed_billing[kind])
    if states == "all":
        return _("in every state")
    return _("in %(states)s") % {"states": states}


def _account_label(account: LabAccount) -> str:
    return account.account_name or account.provider_account_id
