"""The pages of reports; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import include, path

from reports.web import (
    aliases,
    amending,
    history,
    page_images,
    readings,
    rereadings,
    signing,
    views,
)

app_name = "reports"
urlpatterns = [
    path("reports/", views.report_list, name="list"),
    path("reports/upload/", views.upload, name="upload"),
    path("reports/<str:job_id>/", views.report_page, name="page"),
    path(
        "reports/<str:job_id>/pages/<int:page>/",
        page_images.page_image,
        name="page_image",
    ),
    path("reports/<str:job_id>/history/", history.history, name="history"),
    path("reports/<str:job_id>/reread/", rereadings.reread, name="reread"),
    path(
        "reports/<str:job_id>/rereadings/<int:rereading_id>/",
        rereadings.rereading,
        name="rereading",
    ),
    path(
        "reports/<str:job_id>/rereadings/<int:rereading_id>/amend/",
        rereadings.amend_with,
        name="amend_with",
    ),
    path("reports/<str:job_id>/amend/", amending.amend, name="amend"),
    path("reviews/aliases/", aliases.aliases, name="aliases"),
    path(
        "reviews/aliases/<int:alias_id>/confirm/", aliases.confirm, name="confirm_alias"
    ),
    path("reviews/aliases/<int:alias_id>/end/", aliases.end, name="end_alias"),
    path("reviews/<str:review_id>/approve/", signing.approve, name="approve"),
    path("reviews/<str:review_id>/reject/", signing.reject, name="reject"),
    path(
        "reviews/<str:review_id>/second-read/",
        signing.set_second_read,
        name="second_read",
    ),
    path("reviews/<str:review_id>/waive/", amending.skip_second_read, name="waive"),
    path("reviews/<str:review_id>/withdraw/", amending.withdraw, name="withdraw"),
    path(
        "reviews/<str:review_id>/readings/", readings.compare_readings, name="readings"
    ),
    path(
        "reviews/<str:review_id>/readings/<int:position>/",
        readings.choose_reader_version,
        name="settle",
    ),
    path(
        "reviews/<str:review_id>/critical/<int:position>/",
        signing.acknowledge,
        name="acknowledge",
    ),
    path("reviews/", include("reports.web.review_urls")),
    path("users/<str:user_id>/reports/", views.user_reports, name="of_user"),
]
