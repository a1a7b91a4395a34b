"""Show organizations, teams and members in the operators' admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.mfa.models import Authenticator
from django.contrib import admin, messages
from django.db.models import Count, Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Member, Organisation, Team
from accounts.operations.members.operators import (
    rename_organisation,
    set_operator_access,
    set_sign_in_allowed,
)
from accounts.queries import SECOND_FACTORS
from portal.lib.admin import ReadOnlyAdmin, build_operator_actor
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest

    from portal.lib.actor import Actor


@admin.register(Organisation)
class OrganisationAdmin(ReadOnlyAdmin):
    """Show organizations; operators can change the name."""

    list_display = ("name", "teams", "created_at")
    search_fields = ("name",)
    ordering = ("name",)
    fields = ("id", "name", "created_at")
    readonly_fields = ("id", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(team_count=Count("teams"))
        return counted

    @admin.display(description=gettext_lazy("Teams"), ordering="team_count")
    def teams(self, organisation: Any) -> int:
        return int(organisation.team_count)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        rename_organisation(
            organisation=obj,
            actor=build_operator_actor(request),
            name=form.cleaned_data["name"],
        )


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    """Show teams; owners change them, `create_team` creates them."""

    list_display = (
        *("name", "slug", "organisation", "region", "members", "sign_in"),
        "created_at",
    )
    list_filter = ("region",)
    search_fields = ("name", "slug", "organisation__name")
    ordering = ("name",)
    fields = ("id", "organisation", "name", "slug", "region", "sign_in", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(member_count=Count("memberships"))
        return counted.select_related("sign_in_rules", "single_sign_on")

    @admin.display(description=gettext_lazy("Sign-in"))
    def sign_in(self, team: Any) -> str:
        rules = getattr(team, "sign_in_rules", None)
        provider = getattr(team, "single_sign_on", None)
        parts = []
        if provider is not None:
            needed = rules is not None and rules.requires_single_sign_on
            parts.append(
                _("single sign-on required") if needed else _("single sign-on")
            )
        if rules is not None and rules.requires_second_factor:
            parts.append(_("second factor required"))
        return ", ".join(parts) or "-"

    @admin.display(description=gettext_lazy("Members"), ordering="member_count")
    def members(self, team: Any) -> int:
        return int(team.member_count)


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    """Show members; operators disable sign-in and grant operator access."""

    list_display = (
        *("email", "name", "teams", "signs_in", "is_operator", "second_factor"),
        "last_login",
    )
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "name")
    ordering = ("email",)
    fields = (
        *("id", "email", "email_confirmed_at", "name", "signs_in", "is_operator"),
        *("second_factor", "last_login", "teams"),
    )
    actions = ("end_sign_in", "restore_sign_in", "appoint", "dismiss")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        factors = Authenticator.objects.filter(
            user=OuterRef("pk"), type__in=SECOND_FACTORS
        )
        annotated: QuerySet[Any] = rows.annotate(has_second_factor=Exists(factors))
        return annotated.prefetch_related("memberships__team")

    @admin.display(
        description=gettext_lazy("Can sign in"), boolean=True, ordering="is_active"
    )
    def signs_in(self, member: Member) -> bool:
        return member.is_active

    @admin.display(
        description=gettext_lazy("Operator"), boolean=True, ordering="is_staff"
    )
    def is_operator(self, member: Member) -> bool:
        return member.is_staff

    @admin.display(description=gettext_lazy("Second factor"), boolean=True)
    def second_factor(self, member: Any) -> bool:
        return bool(member.has_second_factor)

    @admin.display(description=gettext_lazy("Teams"))
    def teams(self, member: Member) -> str:
        return ", ".join(m.team.slug for m in member.memberships.all())

    @admin.action(description=gettext_lazy("Disable sign-in"))
    def end_sign_in(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        _update_members(
            request,
            queryset,
            lambda m, a: set_sign_in_allowed(member=m, actor=a, allowed=False),
        )

    @admin.action(description=gettext_lazy("Enable sign-in"))
    def restore_sign_in(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        _update_members(
            request,
            queryset,
            lambda m, a: set_sign_in_allowed(member=m, actor=a, allowed=True),
        )

    @admin.action(description=gettext_lazy("Grant operator access"))
    def appoint(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        _update_members(
            request,
            queryset,
            lambda m, a: set_operator_access(member=m, actor=a, operator=True),
        )

    @admin.action(description=gettext_lazy("Revoke operator access"))
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        _update_members(
            request,
            queryset,
            lambda m, a: set_operator_access(member=m, actor=a, operator=False),
        )


def _update_members(
    request: HttpRequest,
    members: QuerySet[Member],
    change: Callable[[Member, Actor], object],
) -> None:
    """Apply a change to each chosen member and report each refusal."""
    done = 0
    for member in members:
        try:
            change(member, build_operator_actor(request))
            done += 1
        except DomainError as refusal:
            messages.error(request, f"{member.email}: {refusal.message}")
    if done:
        messages.success(
            request,
            ngettext("Updated %(n)d member.", "Updated %(n)d members.", done)
            % {"n": done},
        )
