"""The pages of reports; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import include, path

from reports.web.documents import views as documents
from reports.web.jobs import (
    history,
    holds,
    outside,
    page_images,
    rereadings,
    views,
)
from reports.web.limits import views as limits
from reports.web.mail import settings as mail
from reports.web.names import aliases
from reports.web.orders import moving
from reports.web.orders import views as orders
from reports.web.signing import amending, second_reads
from reports.web.signing import views as signing

app_name = "reports"
urlpatterns = [
    path("reports/", views.list_reports, name="list"),
    path("reports/upload/", views.upload_report, name="upload"),
    path(
        "reports/critical-limits/",
        limits.show_critical_limits,
        name="critical_limits",
    ),
    path(
        "reports/critical-limits/add/",
        limits.add_critical_limit_page,
        name="add_critical_limit",
    ),
    path(
        "reports/critical-limits/<str:limit_id>/",
        limits.change_critical_limit_page,
        name="change_critical_limit",
    ),
    path(
        "reports/critical-limits/<str:limit_id>/revert/",
        limits.revert_critical_limit_page,
        name="revert_critical_limit",
    ),
    path("reports/documents/", documents.list_unmatched_documents, name="documents"),
    path(
        "reports/documents/upload/", documents.upload_document, name="upload_document"
    ),
    path(
        "reports/documents/<uuid:document_id>/",
        documents.show_document,
        name="document",
    ),
    path(
        "reports/documents/<uuid:document_id>/pages/<int:page>/",
        documents.show_document_page_image,
        name="document_image",
    ),
    path(
        "reports/documents/<uuid:document_id>/decide/",
        documents.decide_document,
        name="decide_document",
    ),
    path("settings/mail/", mail.show_mailbox, name="mail"),
    path("settings/mail/save/", mail.save_mailbox, name="save_mail"),
    path("settings/mail/check/", mail.check_mailbox_now, name="check_mail"),
    path("settings/mail/remove/", mail.remove_mailbox, name="remove_mail"),
    path("reports/<str:job_id>/", views.show_report, name="page"),
    path(
        "reports/<str:job_id>/pages/<int:page>/",
        page_images.show_report_page_image,
        name="page_image",
    ),
    path(
        "reports/<str:job_id>/hold/",
        holds.release_or_reject_held_report,
        name="decide_hold",
    ),
    path(
        "reports/<str:job_id>/order/",
        orders.compare_report_with_its_order,
        name="ordered",
    ),
    path(
        "orders/<uuid:order_id>/reports/",
        orders.list_reports_of_one_order,
        name="of_order",
    ),
    path(
        "orders/<uuid:order_id>/reports/upload/",
        orders.upload_report_of_order,
        name="upload_of_order",
    ),
    path(
        "reports/<str:job_id>/order/missing/",
        orders.mark_missing_result,
        name="missing",
    ),
    path("reports/<str:job_id>/order/move/", moving.move_report, name="move"),
    path("reports/<str:job_id>/history/", history.show_report_history, name="history"),
    path(
        "reports/<str:job_id>/reread/",
        rereadings.reread_completed_report,
        name="reread",
    ),
    path(
        "reports/<str:job_id>/rereadings/<int:rereading_id>/",
        rereadings.show_rereading_differences,
        name="rereading",
    ),
    path(
        "reports/<str:job_id>/rereadings/<int:rereading_id>/amend/",
        rereadings.amend_report_with_rereading,
        name="amend_with",
    ),
    path("reports/<str:job_id>/amend/", amending.amend_completed_report, name="amend"),
    path("reviews/aliases/", aliases.show_loinc_aliases, name="aliases"),
    path(
        "reviews/aliases/<int:alias_id>/confirm/",
        aliases.approve_proposed_loinc_alias,
        name="confirm_alias",
    ),
    path(
        "reviews/aliases/<int:alias_id>/end/",
        aliases.decline_or_remove_loinc_alias,
        name="end_alias",
    ),
    path("reviews/<str:review_id>/approve/", signing.sign_review, name="approve"),
    path(
        "reviews/<str:review_id>/reject/",
        signing.reject_report_with_reason,
        name="reject",
    ),
    path(
        "reviews/<str:review_id>/second-read/",
        signing.request_or_cancel_second_read_of_report,
        name="second_read",
    ),
    path("reviews/<str:review_id>/waive/", amending.skip_second_read, name="waive"),
    path(
        "reviews/<str:review_id>/withdraw/",
        amending.withdraw_amendment,
        name="withdraw",
    ),
    path(
        "reviews/<str:review_id>/readings/",
        second_reads.show_disputed_rows,
        name="readings",
    ),
    path(
        "reviews/<str:review_id>/readings/<int:position>/",
        second_reads.resolve_row_with_reader_version,
        name="settle",
    ),
    path(
        "reviews/<str:review_id>/critical/<int:position>/",
        signing.record_person_notified_of_critical_value,
        name="acknowledge",
    ),
    path("reviews/", include("reports.web.review.urls")),
    path("users/<str:user_id>/reports/", views.list_reports_of_user, name="of_user"),
    path(
        "users/<str:user_id>/reports/outside/<uuid:outside_report_id>/",
        outside.show_outside_report,
        name="outside",
    ),
]
