"""The operators' admin: who gets in, under which policy, and what is written of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from csp.decorators import csp_update
from django.apps import apps
from django.contrib.admin import site
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import CompositePrimaryKey
from django.http import HttpResponse, HttpResponseRedirect
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
        """Ask for sign-in, `is_staff` (403), and the second factor, in this order."""
        inner = super().admin_view(view, cacheable)

        @csp_update(_POLICY)
        def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not self.has_permission(request):
                raise PermissionDenied
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
            path("queue/", self.admin_view(show_teams_at_work), name="queue"),
        ]

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
                self.register(model, ReadOnlyAdmin)


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
