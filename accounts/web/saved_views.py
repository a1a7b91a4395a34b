"""Saved views of lists: the row above a list, and pages to save and change views.

A list adopts them with `keeps_views` in its destination, `build_saved_views_row` in the
view and components/saved_views.html in its page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.declarations.pages import list_destinations
from accounts.models import SavedView
from accounts.models.saved_view import NAME_MAX_LENGTH
from accounts.operations.members.saved_views import (
    ViewSettings,
    change_saved_view,
    create_saved_view,
    delete_saved_view,
)
from accounts.queries import list_saved_views
from accounts.states import Area
from accounts.web.dialogs import render_confirmation, render_form
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import is_page_fragment_requested, page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.declarations.pages import Destination
    from accounts.web.requests import TenantRequest

# The whole list, also for who opens it with a default.
ALL = "view=all"
# What says where in a list one is, not how one looks at it.
_PLACES = ("offset", "cursor", "view")


class ViewForm(forms.Form):
    """A view's name and whether it is shared and the default."""

    name = forms.CharField(
        max_length=NAME_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a name.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    is_shared = forms.BooleanField(
        required=False, label=gettext_lazy("Share with the team")
    )
    is_default = forms.BooleanField(
        required=False, label=gettext_lazy("Use as default view")
    )

    def view_settings(self) -> ViewSettings:
        """Return the valid form for the operation."""
        return ViewSettings(**self.cleaned_data)


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A view above its list; `edit_url` is empty if it cannot be changed."""

    view: SavedView
    url: str
    is_here: bool
    edit_url: str


@dataclass(frozen=True, slots=True)
class ViewsRow:
    """The views of a list. `save_url` is empty if there is nothing new to save.

    `opens_at` is where a member with a default is to be sent who opens the bare list.
    """

    links: tuple[ViewLink, ...]
    all_url: str
    is_all_here: bool
    save_url: str
    opens_at: str


def build_saved_views_row(request: TenantRequest) -> ViewsRow:
    """Build the views row for the list of this request: one query."""
    match = request.resolver_match
    page = match.view_name if match else ""
    address = page_url(request, page)
    here = normalize_list_query(request.GET)
    links = tuple(
        ViewLink(
            view=view,
            url=f"{address}?{view.query}",
            is_here=view.query == here,
            edit_url=page_url(request, "team:view", view_id=view.id)
            if _may_change(request, view)
            else "",
        )
        for view in list_saved_views(
            tenant=request.tenant, member=request.member, page=page
        )
    )
    bare = not request.GET and not is_page_fragment_requested(request)
    save = QueryDict(mutable=True)
    save.update({"page": page, "query": here})
    return ViewsRow(
        links=links,
        all_url=f"{address}?{ALL}",
        is_all_here=not here,
        save_url=f"{page_url(request, 'team:save_view')}?{save.urlencode()}"
        if here and not any(link.is_here for link in links)
        else "",
        opens_at=next(
            (
                link.url
                for link in links
                if bare
                and link.view.is_default
                and link.view.member_id == request.member.pk
            ),
            "",
        ),
    )


def normalize_list_query(query: QueryDict) -> str:
    """Return a query string sorted, without empty values and positions."""
    normalized = QueryDict(mutable=True)
    for name in sorted(query.keys() - set(_PLACES)):
        if values := [value for value in query.getlist(name) if value]:
            normalized.setlist(name, values)
    return normalized.urlencode()


@require_http_methods(["GET", "POST"])
def save_list_view_page(request: TenantRequest) -> HttpResponse:
    """Ask for a name and save the list's query, given by `page` and `query`."""
    parameters = request.GET
    if not parameters and request.method == "GET":
        return HttpResponseRedirect(page_url(request, "home"))
    target = _find_list_page(request, parameters.get("page", ""))
    query = normalize_list_query(QueryDict(parameters.get("query", "")))
    back = f"{page_url(request, target.path_name)}?{query or ALL}"
    form = ViewForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            view = create_saved_view(
                tenant=request.tenant,
                actor=request.actor,
                member=request.member,
                page=target.path_name,
                query=query,
                settings=form.view_settings(),
            )
        except DomainError as refusal:
            form.add_error(
                "name", _("%(reason)s Nothing was saved.") % {"reason": refusal.message}
            )
        else:
            messages.success(request, _("View %(name)s saved.") % {"name": view.name})
            return redirect_browser(request, back)
    return render_form(
        request,
        "accounts/_saved_view.html",
        title=_("Save view"),
        back=back,
        back_words=target.words,
        status=422 if form.errors else 200,
        form=form,
        query=request.META["QUERY_STRING"],
        verb=_("Save view"),
        is_own=True,
    )


@require_http_methods(["GET", "POST"])
def edit_saved_view_page(request: TenantRequest, view_id: str) -> HttpResponse:
    """Rename a view, share it or make it the default."""
    view = _find_view(request, view_id)
    target = _find_list_page(request, view.page)
    back = f"{page_url(request, view.page)}?{view.query}"
    is_own = view.member_id == request.member.pk
    initial = {
        "name": view.name,
        "is_shared": view.is_shared,
        "is_default": view.is_default,
    }
    form = ViewForm(request.POST or None, initial=initial)
    if not is_own:
        del form.fields["is_default"]
    if request.method == "POST" and form.is_valid():
        view_settings = ViewSettings(
            **{"is_default": view.is_default, **form.cleaned_data}
        )
        try:
            change_saved_view(view=view, actor=request.actor, settings=view_settings)
        except DomainError as refusal:
            form.add_error(
                "name",
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(request, _("View %(name)s updated.") % {"name": view.name})
            return redirect_browser(request, back)
    return render_form(
        request,
        "accounts/_saved_view.html",
        title=_("Edit view"),
        back=back,
        back_words=target.words,
        status=422 if form.errors else 200,
        form=form,
        verb=_("Save changes"),
        is_own=is_own,
        delete_url=page_url(request, "team:delete_view", view_id=view.id),
    )


@require_http_methods(["GET", "POST"])
def delete_saved_view_page(request: TenantRequest, view_id: str) -> HttpResponse:
    """Delete a view, after asking."""
    view = _find_view(request, view_id)
    target = _find_list_page(request, view.page)
    back = f"{page_url(request, view.page)}?{ALL}"
    if request.method == "POST":
        delete_saved_view(view=view, actor=request.actor)
        messages.success(request, _("View %(name)s deleted.") % {"name": view.name})
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Delete the view %(name)s?") % {"name": view.name},
        says=_(
            "The view is deleted for the whole team. The listed data is not affected."
        )
        if view.is_shared
        else _("The listed data is not affected."),
        verb=_("Delete view"),
        keep=_("Keep view"),
        back=back,
        back_words=target.words,
    )


def _find_list_page(request: TenantRequest, path_name: str) -> Destination:
    """Return the list of this name, if the member may read it."""
    for destination in list_destinations():
        if (
            destination.keeps_views
            and destination.path_name == path_name
            and (destination.area is None or request.rights.allow(destination.area))
        ):
            return destination
    raise Http404


def _find_view(request: TenantRequest, view_id: str) -> SavedView:
    """Return a view the member may change; 404 for any other."""
    try:
        key = UUID(view_id)
    except ValueError as error:
        raise Http404 from error
    view: SavedView | None = (
        SavedView.objects.for_tenant(request.tenant)
        .select_related("tenant")
        .filter(Q(member=request.member) | Q(is_shared=True), pk=key)
        .first()
    )
    if view is None or not _may_change(request, view):
        raise Http404
    return view


def _may_change(request: TenantRequest, view: SavedView) -> bool:
    return view.member_id == request.member.pk or request.rights.allow(
        Area.TEAM, write=True
    )
