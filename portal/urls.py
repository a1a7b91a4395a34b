"""The map of the whole server; reads like specification section 4."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path, re_path

from exchange.api.r4.transaction import TransactionView
from labs.web.appointments.calendar_feed import serve_calendar_feed
from labs.web.appointments.site_confirmation import answer_visit_by_link
from labs.web.documents.requisition_link import download_requisition_by_link
from labs.web.texts.callback import receive_text_status
from portal.api_docs.document import show_openapi_document
from portal.http.security_txt import show_security_txt
from portal.ops.health import healthz, readyz
from portal.ops.metrics import show_prometheus_metrics
from users.api.logos import serve_source_logo
from users.api.pushes import receive_source_push

handler400 = "portal.http.error_pages.show_bad_request_page"
handler403 = "portal.http.error_pages.show_forbidden_page"
handler404 = "portal.http.error_pages.show_not_found_page"
handler500 = "portal.http.error_pages.show_server_error_page"

admin.autodiscover()

urlpatterns = [
    # What is called most comes first: each entry that does not fit costs a call time.
    path("v2/team/", include("labs.api.v3.team.urls")),
    path("v2/user/", include("labs.api.v3.insurance.urls")),
    path("v2/", include("accounts.webhooks.api.v2.urls")),
    path("v2/", include("users.api.v2.urls")),
    path("v3/", include("labs.api.v3.urls")),
    path("v1/org/", include("accounts.webhooks.api.v1.urls")),
    path("v1/org/", include("accounts.api.v1.urls")),
    path("v1/org/", include("labs.api.v1.urls")),
    path("lab_report/v1/", include("reports.api.v1.urls")),
    re_path(r"^fhir/R4/?$", TransactionView.as_view(), name="fhir-transaction"),
    path("fhir/R4/", include("exchange.api.r4.urls")),
    path("courier/v1/", include("labs.api.courier.urls")),
    path("", include("portal.api_docs.not_offered")),
    path("api/schema/", show_openapi_document, name="api-schema"),
    path("api/docs/", include("portal.api_docs.urls")),
    path("api/docs/", include("accounts.webhooks.web.docs_urls")),
    path("docs/", include("portal.docs.urls")),
    path("logos/<slug:slug>.svg", serve_source_logo, name="logo"),
    path("push/<slug:provider>/<str:token>/", receive_source_push, name="source_push"),
    path("", include("users.api.phones.urls")),
    path("connect/", include("users.web.connect.urls")),
    path("connect/", include("exchange.web.portal_urls")),
    path("shl/", include("exchange.web.public_urls")),
    path("site-visit/", answer_visit_by_link, name="site_confirmation"),
    path("calendar/visits.ics", serve_calendar_feed, name="calendar_feed"),
    path("requisition/", download_requisition_by_link, name="requisition_link"),
    path("texts/status/", receive_text_status, name="text_status"),
    path(".well-known/security.txt", show_security_txt, name="security_txt"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", show_prometheus_metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("accounts.web.urls")),
    path("", include("portal.home.urls")),
    path(
        "t/<slug:team_slug>/<slug:environment>/",
        include(
            [
                path("", include("accounts.web.team_urls")),
                path("", include("accounts.webhooks.web.urls")),
                path("", include("users.web.urls")),
                path("", include("labs.web.urls")),
                path("", include("reports.web.urls")),
                path("", include("exchange.web.urls")),
            ]
        ),
    ),
]
