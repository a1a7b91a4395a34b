"""Addresses of the lab pages; portal.urls mounts them."""

from __future__ import annotations

from django.urls import path

from labs.web import (
    accounts,
    booking,
    catalogue,
    critical,
    imports,
    order_actions,
    order_page,
    orders,
    panels,
    papers,
    place_order,
    results,
    unmatched,
    visit_days,
    visit_outcomes,
    visits,
)

app_name = "labs"
urlpatterns = [
    path("orders/place/", place_order.place_order_page, name="place_order"),
    path("orders/", orders.order_list, name="orders"),
    path("orders/file/", orders.export_orders, name="order_file"),
    path("users/<str:user_id>/orders/", orders.user_orders, name="of_user"),
    path("orders/import/", imports.import_order_page, name="import_order"),
    path("orders/<uuid:order_id>/", order_page.order_page, name="order"),
    path(
        "orders/<uuid:order_id>/patient/",
        order_page.show_patient_details,
        name="order_patient",
    ),
    path(
        "orders/<uuid:order_id>/cancel/",
        order_actions.cancel_order_dialog,
        name="cancel_order",
    ),
    path(
        "orders/<uuid:order_id>/recreate/",
        order_actions.recreate_order_page,
        name="recreate_order",
    ),
    path(
        "orders/<uuid:order_id>/advance/",
        order_actions.advance_order_dialog,
        name="advance_order",
    ),
    path(
        "orders/<uuid:order_id>/future/",
        order_actions.send_unknown_status,
        name="report_future",
    ),
    path(
        "orders/<uuid:order_id>/register/",
        order_actions.register_kit_page,
        name="register_kit",
    ),
    path(
        "orders/<uuid:order_id>/start/",
        order_actions.change_start_dialog,
        name="reschedule_order",
    ),
    path(
        "orders/<uuid:order_id>/draw/",
        order_actions.mark_sample_collected,
        name="note_draw",
    ),
    path(
        "orders/<uuid:order_id>/resend/",
        order_actions.resend_last_event,
        name="resend_order",
    ),
    path("orders/<uuid:order_id>/results/", results.order_results, name="results"),
    path("users/<str:user_id>/results/", results.user_results, name="user_results"),
    path("critical/", critical.critical_queue, name="critical"),
    path(
        "critical/<int:alert_id>/acknowledge/",
        critical.acknowledge_result_dialog,
        name="acknowledge",
    ),
    path(
        "orders/<uuid:order_id>/requisition/",
        papers.download_requisition,
        name="requisition",
    ),
    path("orders/<uuid:order_id>/labels/", papers.print_labels, name="labels"),
    path(
        "orders/<uuid:order_id>/instructions/",
        papers.download_instructions,
        name="instructions",
    ),
    path(
        "orders/<uuid:order_id>/results/file/",
        papers.download_results,
        name="results_file",
    ),
    path("orders/<uuid:order_id>/link/", papers.reissue_link, name="reissue_link"),
    path("visits/", visit_days.appointment_list, name="visits"),
    path(
        "orders/<uuid:order_id>/visit/book/",
        booking.book_appointment_page,
        name="book_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/cancel/",
        visits.cancel_appointment_page,
        name="cancel_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/sheet/",
        visits.download_patient_sheet,
        name="visit_sheet",
    ),
    path(
        "orders/<uuid:order_id>/visit/calendar/",
        visits.download_calendar_entry,
        name="visit_calendar",
    ),
    path(
        "orders/<uuid:order_id>/visit/time/",
        visit_outcomes.set_appointment_time,
        name="set_visit_time",
    ),
    path(
        "orders/<uuid:order_id>/visit/complete/",
        visit_outcomes.mark_appointment_completed,
        name="complete_visit",
    ),
    path(
        "orders/<uuid:order_id>/requisition/watch/",
        visits.notify_when_requisition_ready,
        name="watch_requisition",
    ),
    path("unmatched/", unmatched.unmatched_list, name="unmatched"),
    path(
        "unmatched/<uuid:lab_report_id>/",
        unmatched.report_page,
        name="unmatched_report",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/match/",
        unmatched.match_report_dialog,
        name="unmatched_match",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/reject/",
        unmatched.reject_report_dialog,
        name="unmatched_reject",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/put-back/",
        unmatched.restore_report,
        name="unmatched_put_back",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/",
        unmatched.message_page,
        name="unmatched_message",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/read/",
        unmatched.reprocess_message,
        name="unmatched_reread",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/dismiss/",
        unmatched.dismiss_message_dialog,
        name="unmatched_dismiss",
    ),
    path("lab-tests/", catalogue.lab_test_list, name="tests"),
    path("lab-tests/markers/", catalogue.marker_list, name="markers"),
    path("lab-tests/new/", panels.new_panel, name="new_panel"),
    path(
        "lab-tests/<str:lab_test_id>/instructions/",
        papers.download_panel_instructions,
        name="panel_instructions",
    ),
    path(
        "lab-tests/<str:lab_test_id>/archive/",
        catalogue.archive_panel_dialog,
        name="archive",
    ),
    path(
        "lab-tests/<str:lab_test_id>/unarchive/",
        catalogue.restore_panel,
        name="unarchive",
    ),
    path("lab-accounts/", accounts.account_list, name="accounts"),
    path("lab-accounts/add/", accounts.add_account, name="add_account"),
    path(
        "lab-accounts/<str:account_id>/edit/",
        accounts.edit_account,
        name="edit_account",
    ),
    path(
        "lab-accounts/<str:account_id>/status/",
        accounts.edit_account_status,
        name="account_status",
    ),
    path(
        "lab-accounts/<str:account_id>/teams/",
        accounts.edit_account_teams,
        name="account_teams",
    ),
]
