"""Pages to list members, change their roles and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.members.granting import may_grant_roles
from accounts.operations.members.members import remove_member, set_member_roles
from accounts.queries import (
    find_team_membership,
    list_open_invitations,
    list_team_members,
)
from accounts.states import Area, Role
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import read_posted, render_confirmation, render_form
from accounts.web.forms import PAGE_SIZES, PagePlace, RolesForm
from accounts.web.list_columns import MEMBERS
from accounts.web.members.roles import build_permission_matrix_rows, list_role_labels
from accounts.web.rights import require_right
from portal.lib.database.sorting import sort_as_asked
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import Pager, page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.models import Membership
    from accounts.web.requests import TenantRequest

BACK_WORDS = gettext_lazy("Members")


@require_GET
@require_right(Area.TEAM)
def show_members_page(request: TenantRequest) -> HttpResponse:
    return render_members_page(request)


def render_members_page(request: TenantRequest, **news: Any) -> HttpResponse:
    """Render the page; `news` is shown once, about a new invitation."""
    team, held = request.tenant.team, request.rights.roles
    place = PagePlace.read(request.GET)
    columns = read_list_columns(request, MEMBERS)
    found = sort_as_asked(
        list_team_members(team), order_by=columns.order_asked, newest=("pk",)
    )
    now = timezone.now()
    return render_page(
        request,
        "accounts/members.html",
        columns=columns,
        members=[
            {
                "membership": membership,
                "roles": list_role_labels(membership.roles),
                "is_self": membership.member_id == request.member.pk,
                "may_change": may_grant_roles(held, membership.roles),
            }
            for membership in found[place.offset : place.offset + place.limit]
        ],
        invitations=[
            {
                "invitation": invitation,
                "roles": list_role_labels(invitation.roles),
                "is_expired": invitation.is_expired(now),
                "may_change": may_grant_roles(held, invitation.roles),
            }
            for invitation in list_open_invitations(team)
        ],
        pager=Pager(total=found.count(), offset=place.offset, limit=place.limit),
        page_sizes=PAGE_SIZES,
        roles=[role.label for role in Role],
        all_roles=list(Role),
        matrix=build_permission_matrix_rows(),
        section="members",
        sends_mail=bool(settings.EMAIL_URL),
        **news,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def change_member_roles_page(request: TenantRequest, member_id: str) -> HttpResponse:
    membership = _find_membership(request, member_id)
    back = page_url(request, "team:members")
    form = RolesForm(read_posted(request), initial={"roles": membership.roles})
    if request.method == "POST" and form.is_valid():
        try:
            set_member_roles(
                membership=membership,
                actor=request.actor,
                roles=form.cleaned_data["roles"],
            )
        except DomainError as refusal:
            form.add_error(
                "roles",
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(
                request,
                _("Roles of %(name)s updated.") % {"name": _display_name(membership)},
            )
            return redirect_browser(request, back)
    return render_form(
        request,
        "accounts/_roles.html",
        title=_("Roles of %(name)s") % {"name": _display_name(membership)},
        back=back,
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        is_owner=Role.OWNER in request.rights.roles,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM)
def remove_member_page(request: TenantRequest, member_id: str) -> HttpResponse:
    membership = _find_membership(request, member_id)
    back = page_url(request, "team:members")
    is_self = membership.member_id == request.member.pk
    refused = ""
    if request.method == "POST":
        try:
            remove_member(membership=membership, actor=request.actor)
        except DomainError as refusal:
            refused = refusal.message
        else:
            if is_self:
                return redirect_browser(request, reverse("landing"))
            messages.success(
                request, _("%(name)s is removed.") % {"name": _display_name(membership)}
            )
            return redirect_browser(request, back)
    if refused:
        messages.error(
            request, _("%(reason)s Nothing was changed.") % {"reason": refused}
        )
        return redirect_browser(request, back)
    team = request.tenant.team.name
    return render_confirmation(
        request,
        title=_("Leave %(team)s?") % {"team": team}
        if is_self
        else _("Remove %(name)s from %(team)s?")
        % {"name": _display_name(membership), "team": team},
        says=(
            _(
                "You lose access to both environments immediately. Your open "
                "invitations are withdrawn. API keys you created keep working: "
                "rotate the ones you know."
            )
            if is_self
            else _(
                "They lose access to both environments immediately. Their open "
                "invitations are withdrawn. API keys they created keep working:"
                " rotate the ones they know."
            )
        ),
        verb=_("Leave team") if is_self else _("Remove member"),
        keep=_("Stay in team") if is_self else _("Keep member"),
        back=back,
        back_words=BACK_WORDS,
    )


def _find_membership(request: TenantRequest, member_id: str) -> Membership:
    try:
        member_pk = UUID(member_id)
    except ValueError:
        raise Http404 from None
    membership = find_team_membership(team=request.tenant.team, member_id=member_pk)
    if membership is None:
        raise Http404
    return membership


def _display_name(membership: Membership) -> str:
    return membership.member.name or membership.member.email
