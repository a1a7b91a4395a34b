"""The operators' admin: who gets in, under which policy, and what is written of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from csp.decorators import csp_update
from django.apps import apps
from django.contrib.admin import site
from django.contrib.auth.views import redirect_to_login
from django.db.models import CompositePrimaryKey
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from unfold.sites import UnfoldAdminSite

from accounts.web.sign_in.second_factor import find_second_factor_url
from portal.lib.actor import Actor, ActorKind
from portal.lib.tenancy import TenantOwned, across_tenants
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.urls import URLPattern

    from accounts.models import Member

# Unfold's pages run Alpine, which evaluates its attributes, and style themselves.
_POLICY = {
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
    "img-src": ["'self'", "data:"],
}


# What operators look for, in the order that they do; by app label. The last holds what
# the installation itself keeps, libraries' tables among it.
_GROUPS = (
    (gettext_lazy("Customers"), ("accounts",)),
    (gettext_lazy("Users and their data"), ("users",)),
    (gettext_lazy("Lab orders and results"), ("labs",)),
    (gettext_lazy("Reports and reviews"), ("reports",)),
    (gettext_lazy("Webhooks"), ("webhooks",)),
    (gettext_lazy("Sharing and exports"), ("exchange",)),
    (gettext_lazy("Installation"), ()),
)
_OWN_LABELS = {label for _title, labels in _GROUPS for label in labels} | {"portal"}
# Tables of libraries whose own names say little here.
_NAMES = {
    "authenticator": gettext_lazy("Second factors"),
    "contenttype": gettext_lazy("Kinds of tables"),
    "group": gettext_lazy("Permission groups (unused)"),
    "logentry": gettext_lazy("Admin log (unused)"),
    "permission": gettext_lazy("Permissions (unused)"),
    "procrastinateevent": gettext_lazy("Job events"),
    "procrastinatejob": gettext_lazy("Jobs"),
    "procrastinateperiodicdefer": gettext_lazy("Periodic jobs"),
    "procrastinateworker": gettext_lazy("Workers"),
    "session": gettext_lazy("Browser sessions"),
}
# What is looked for in tables without a page of their own, where no ID is; a session's
# key would let one in.
_SEARCHED = {
    "contenttype": ("app_label", "model"),
    "emailconfirmation": ("email_address__email",),
    "group": ("name",),
    "listedpayor": ("payor_code",),
    "permission": ("codename", "name"),
    "procrastinateevent": ("job__task_name",),
    "procrastinatejob": ("task_name", "queue_name"),
    "procrastinateperiodicdefer": ("task_name",),
}


class OperatorsSite(UnfoldAdminSite):
    """/admin/: members with `is_staff`, behind a second factor (issue "The shell").

    Tables without a page of their own get the read-only one. Every row of a tenant
    that is opened leaves a line in that tenant's audit.
    """

    site_title = gettext_lazy("Assay operators")
    site_header = gettext_lazy("Assay operators")
    index_title = gettext_lazy("Operator admin")

    def has_permission(self, request: HttpRequest) -> bool:
        user = cast("Member", request.user)
        return user.is_active and user.is_staff

    def admin_view(
        self, view: Callable[..., HttpResponse], cacheable: bool = False
    ) -> Callable[..., HttpResponse]:
        """Ask for sign-in, `is_staff` (else 403), then the second factor."""
        inner = super().admin_view(view, cacheable)

        @csp_update(_POLICY)
        def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not self.has_permission(request):
                return _refuse(request)
            step = find_second_factor_url(request, set_up="mfa_activate_totp")
            if step is not None:
                return HttpResponseRedirect(step)
            with across_tenants(why="the operators' admin looks at every tenant"):
                response = cast("HttpResponse", inner(request, *args, **kwargs))
                if isinstance(response, TemplateResponse):
                    response.render()
                _record_opened(request)
            return response

        return cast("Callable[..., HttpResponse]", guarded)

    def get_urls(self) -> list[Any]:
        self._register_the_rest()
        return list(super().get_urls())

    def extra_urls(self) -> list[URLPattern]:
        from exchange.admin import show_lake
        from portal.ops.isolation.page import show_isolation_reports
        from portal.ops.teams_at_work import show_teams_at_work
        from users.admin import show_connection_counts_by_source

        return [
            path("doctor/", self.admin_view(show_health_checks), name="doctor"),
            path(
                "providers/",
                self.admin_view(show_connection_counts_by_source),
                name="providers",
            ),
            path(
                "isolation/", self.admin_view(show_isolation_reports), name="isolation"
            ),
            path("lake/", self.admin_view(show_lake), name="lake"),
            path("queue/", self.admin_view(show_teams_at_work), name="queue"),
        ]

    def get_app_list(self, request: HttpRequest, app_label: Any = None) -> list[Any]:
        """List the tables by what operators look for; of one app as Django does."""
        apps_by_label = {
            app["app_label"]: app for app in super().get_app_list(request, app_label)
        }
        for app in apps_by_label.values():
            for row in app["models"]:
                named = row["model"]._meta.app_label in _OWN_LABELS
                row["name"] = (
                    row["name"]
                    if named
                    else _NAMES.get(row["model"]._meta.model_name, row["name"])
                )
        if app_label is not None:
            return list(apps_by_label.values())
        groups = []
        for title, labels in _GROUPS:
            found = [apps_by_label.pop(one) for one in labels if one in apps_by_label]
            found = found if labels else list(apps_by_label.values())
            if found:
                rows = [row for app in found for row in app["models"]]
                rows.sort(key=lambda row: str(row["name"]).casefold())
                groups.append({**found[0], "name": title, "models": rows})
        return groups

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Members sign in at one place only."""
        return redirect_to_login(reverse("admin:index"))

    def password_change(
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """Members change their password at one place only."""
        return HttpResponseRedirect(reverse("account_reset_password"))

    def _register_the_rest(self) -> None:
        # Here, not on import: every app's own pages are registered by now.
        from portal.lib.admin import ReadOnlyAdmin

        for model in apps.get_models():
            if isinstance(self._registry.get(model), ReadOnlyAdmin):
                continue
            if self.is_registered(model):
                self.unregister(model)  # a library's own page, with its own rules
            if not isinstance(model._meta.pk, CompositePrimaryKey):
                searched = _SEARCHED.get(model._meta.model_name or "", ())
                self.register(model, ReadOnlyAdmin, search_fields=searched)


def _refuse(request: HttpRequest) -> HttpResponse:
    """Return the page that says what it takes to enter, and who grants it.

    No role of a team lets one in here, so a team's admin is the wrong person to ask.
    """
    return render(request, "admin/operators_only.html", status=HTTPStatus.FORBIDDEN)


def show_health_checks(request: HttpRequest) -> TemplateResponse:
    """Return what `manage.py doctor` says, from where this page is served."""
    from portal.ops.health import run_all_health_checks

    looked = run_all_health_checks()
    return TemplateResponse(
        request,
        "admin/doctor.html",
        {
            **site.each_context(request),
            "title": _("Server health"),
            "looked": looked,
            "failed": sum(state == "fail" for _check, state, _finding in looked),
            "warned": sum(state == "warn" for _check, state, _finding in looked),
        },
    )


def _record_opened(request: Any) -> None:
    from accounts.operations.audit.entries import record_read

    opened = getattr(request, "opened", None)
    if not isinstance(opened, TenantOwned):
        return
    member = cast("Member", request.user)
    record_read(
        tenant=opened.tenant,
        actor=Actor(
            ActorKind.MEMBER,
            str(member.pk),
            member.email,
            request.META.get("REMOTE_ADDR") or None,
        ),
        subject=opened._meta.model_name or "",
        subject_id=opened.pk,
        user_uuid=getattr(opened, "user_uuid", None),
    )
