"""Addresses of the lab pages; portal.urls mounts them."""

from __future__ import annotations

from django.urls import path

from labs.web.accounts import connection
from labs.web.accounts import views as accounts
from labs.web.appointments import booking, calendars, card, days, outcomes, week
from labs.web.catalogue import conversion, kit_stock, own_catalogue, panels
from labs.web.catalogue import views as catalogue
from labs.web.documents import views as documents
from labs.web.inbound import messages, reports, unmatched
from labs.web.order_wizard import views as place_order
from labs.web.orders import actions, bulk, imports, order_list, order_page, steps
from labs.web.physicians import approvals, profile
from labs.web.results import (
    beside_file,
    beside_life,
    critical,
    own_system,
    reviews,
    user_file,
)
from labs.web.results import user_page as user_results
from labs.web.results import views as results
from labs.web.shipments import courier
from labs.web.shipments import file as shipment_file
from labs.web.texts import settings as texts

app_name = "labs"
urlpatterns = [
    path("orders/place/", place_order.place_order_page, name="place_order"),
    path("orders/", order_list.show_order_list, name="orders"),
    path("orders/selected/", bulk.act_on_orders, name="bulk_orders"),
    path("orders/file/", order_list.export_orders_as_csv, name="order_file"),
    path("users/<str:user_id>/orders/", order_list.show_user_orders, name="of_user"),
    path("orders/import/", imports.import_order_page, name="import_order"),
    path("orders/shipments/", shipment_file.import_shipment_file, name="shipment_file"),
    path("orders/<uuid:order_id>/", order_page.show_order_page, name="order"),
    path(
        "orders/<uuid:order_id>/patient/",
        order_page.show_order_patient_details,
        name="order_patient",
    ),
    path(
        "orders/<uuid:order_id>/cancel/",
        actions.cancel_order_dialog,
        name="cancel_order",
    ),
    path(
        "orders/<uuid:order_id>/recreate/",
        actions.recreate_order_page,
        name="recreate_order",
    ),
    path(
        "orders/<uuid:order_id>/advance/",
        actions.advance_order_dialog,
        name="advance_order",
    ),
    path(
        "orders/<uuid:order_id>/future/",
        actions.send_unknown_sandbox_status,
        name="report_future",
    ),
    path(
        "orders/<uuid:order_id>/register/",
        actions.register_kit_page,
        name="register_kit",
    ),
    path(
        "orders/<uuid:order_id>/start/",
        actions.change_order_start_date_dialog,
        name="reschedule_order",
    ),
    path(
        "orders/<uuid:order_id>/draw/",
        actions.mark_sample_collected,
        name="note_draw",
    ),
    path(
        "orders/<uuid:order_id>/step/",
        steps.record_step_dialog,
        name="record_step",
    ),
    path(
        "orders/<uuid:order_id>/replace/",
        steps.replace_kit_dialog,
        name="replace_kit",
    ),
    path(
        "orders/<uuid:order_id>/resend/",
        actions.resend_last_order_event,
        name="resend_order",
    ),
    path("orders/<uuid:order_id>/results/", results.show_order_results, name="results"),
    path(
        "users/<str:user_id>/results/",
        user_results.show_user_results,
        name="user_results",
    ),
    path(
        "users/<str:user_id>/results/file/",
        user_file.download_user_results,
        name="user_results_file",
    ),
    path("results/review/", reviews.review_results, name="review_results"),
    path(
        "users/<str:user_id>/beside-life/",
        beside_life.show_labs_beside_life,
        name="beside_life",
    ),
    path(
        "users/<str:user_id>/beside-life/file/",
        beside_file.download_labs_beside_life,
        name="beside_life_file",
    ),
    path("critical/", critical.show_critical_result_queue, name="critical"),
    path(
        "critical/<int:alert_id>/acknowledge/",
        critical.acknowledge_critical_result_dialog,
        name="acknowledge",
    ),
    path(
        "orders/<uuid:order_id>/requisition/",
        documents.download_requisition,
        name="requisition",
    ),
    path(
        "orders/<uuid:order_id>/labels/", documents.print_specimen_labels, name="labels"
    ),
    path(
        "orders/<uuid:order_id>/instructions/",
        documents.download_order_instructions,
        name="instructions",
    ),
    path(
        "orders/<uuid:order_id>/results/file/",
        documents.download_results_report,
        name="results_file",
    ),
    path(
        "orders/<uuid:order_id>/lab-documents/<uuid:lab_document_id>/",
        documents.download_lab_document,
        name="lab_document",
    ),
    path(
        "orders/<uuid:order_id>/link/",
        documents.replace_requisition_link,
        name="reissue_link",
    ),
    path("approvals/", approvals.show_approval_queue, name="approvals"),
    path(
        "approvals/review/",
        approvals.review_orders_to_approve,
        name="review_approvals",
    ),
    path("approvals/decide/", approvals.decide_on_orders, name="decide_approvals"),
    path("physicians/", profile.show_physicians, name="physicians"),
    path(
        "physicians/profile/signature/",
        profile.show_physician_signature,
        name="physician_signature",
    ),
    path(
        "physicians/profile/", profile.edit_physician_profile, name="physician_profile"
    ),
    path("visits/", days.show_appointment_list, name="visits"),
    path("visits/week/", week.show_visit_calendar, name="visit_week"),
    path("visits/calendars/", calendars.show_calendars, name="calendars"),
    path(
        "visits/calendars/own/",
        calendars.create_calendar_dialog,
        name="create_calendar",
    ),
    path(
        "visits/calendars/own/revoke/",
        calendars.revoke_calendar_dialog,
        name="revoke_calendar",
    ),
    path(
        "visits/calendars/site/",
        calendars.create_site_calendar_dialog,
        name="create_site_calendar",
    ),
    path(
        "visits/calendars/<uuid:feed_id>/rotate/",
        calendars.rotate_site_calendar_dialog,
        name="rotate_site_calendar",
    ),
    path(
        "visits/calendars/<uuid:feed_id>/revoke/",
        calendars.revoke_site_calendar_dialog,
        name="revoke_site_calendar",
    ),
    path(
        "orders/<uuid:order_id>/visit/book/",
        booking.book_appointment_page,
        name="book_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/cancel/",
        card.cancel_appointment_page,
        name="cancel_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/sheet/",
        card.download_patient_sheet,
        name="visit_sheet",
    ),
    path(
        "orders/<uuid:order_id>/visit/calendar/",
        card.download_calendar_entry,
        name="visit_calendar",
    ),
    path(
        "orders/<uuid:order_id>/visit/enter/",
        outcomes.enter_visit_dialog,
        name="enter_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/time/",
        outcomes.set_appointment_time,
        name="set_visit_time",
    ),
    path(
        "orders/<uuid:order_id>/visit/confirm/",
        outcomes.confirm_appointment_dialog,
        name="confirm_visit",
    ),
    path(
        "orders/<uuid:order_id>/visit/complete/",
        outcomes.mark_appointment_completed,
        name="complete_visit",
    ),
    path(
        "orders/<uuid:order_id>/requisition/watch/",
        card.subscribe_to_requisition_ready_mail,
        name="watch_requisition",
    ),
    path("unmatched/", unmatched.show_unmatched_reports_and_messages, name="unmatched"),
    path(
        "unmatched/<uuid:lab_report_id>/",
        reports.show_unmatched_report,
        name="unmatched_report",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/match/",
        reports.match_lab_report_dialog,
        name="unmatched_match",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/add/",
        reports.add_lab_report_to_ended_order_dialog,
        name="unmatched_add",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/reject/",
        reports.reject_lab_report_dialog,
        name="unmatched_reject",
    ),
    path(
        "unmatched/<uuid:lab_report_id>/put-back/",
        reports.restore_rejected_report,
        name="unmatched_put_back",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/",
        messages.show_unprocessed_lab_message,
        name="unmatched_message",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/read/",
        messages.reprocess_lab_message,
        name="unmatched_reread",
    ),
    path(
        "unmatched/messages/<uuid:lab_message_id>/dismiss/",
        messages.dismiss_lab_message_dialog,
        name="unmatched_dismiss",
    ),
    path("settings/results/", own_system.show_own_system, name="own_system"),
    path("settings/results/save/", own_system.save_own_system, name="save_own_system"),
    path(
        "settings/results/check/", own_system.check_own_system, name="check_own_system"
    ),
    path(
        "settings/results/remove/",
        own_system.remove_own_system_page,
        name="remove_own_system",
    ),
    path(
        "orders/<uuid:order_id>/resend-results/",
        own_system.resend_order_results,
        name="resend_results",
    ),
    path("settings/texts/", texts.show_text_settings, name="texts"),
    path("settings/texts/save/", texts.save_text_provider, name="save_texts"),
    path("settings/texts/check/", texts.check_text_provider_now, name="check_texts"),
    path(
        "settings/texts/remove/", texts.remove_text_provider_page, name="remove_texts"
    ),
    path("lab-tests/", catalogue.show_lab_test_list, name="tests"),
    path("lab-tests/markers/", catalogue.show_marker_list, name="markers"),
    path("lab-tests/new/", panels.create_panel_page, name="new_panel"),
    path(
        "lab-tests/<str:lab_test_id>/instructions/",
        documents.download_panel_instructions,
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
    path("kit-stock/", kit_stock.edit_kit_stock_page, name="kit_stock"),
    path(
        "lab-tests/<str:lab_test_id>/convert/",
        conversion.show_panel_conversion,
        name="convert_panel",
    ),
    path("own-catalog/", own_catalogue.show_own_catalogue, name="own_catalogue"),
    path(
        "own-catalog/file/",
        own_catalogue.export_own_catalogue,
        name="own_catalogue_file",
    ),
    path(
        "own-catalog/loinc/",
        own_catalogue.show_loinc_proposals,
        name="loinc_proposals",
    ),
    path(
        "own-catalog/updates/<uuid:update_id>/",
        own_catalogue.show_catalogue_update,
        name="catalogue_update",
    ),
    path(
        "own-catalog/updates/<uuid:update_id>/file/",
        own_catalogue.download_update_files,
        name="catalogue_update_file",
    ),
    path("settings/courier/", courier.show_courier_settings, name="courier"),
    path(
        "settings/courier/secret/",
        courier.create_courier_secret_dialog,
        name="courier_secret",
    ),
    path(
        "settings/courier/remove/",
        courier.remove_courier_dialog,
        name="remove_courier",
    ),
    path("lab-accounts/", accounts.show_lab_accounts, name="accounts"),
    path(
        "lab-accounts/<str:account_id>/connection/",
        connection.show_lab_connection,
        name="account_connection",
    ),
    path(
        "lab-accounts/<str:account_id>/connection/save/",
        connection.save_lab_connection,
        name="save_account_connection",
    ),
    path(
        "lab-accounts/<str:account_id>/connection/check/",
        connection.check_lab_connection,
        name="check_account_connection",
    ),
    path("lab-accounts/add/", accounts.add_lab_account, name="add_account"),
    path(
        "lab-accounts/<str:account_id>/edit/",
        accounts.edit_lab_account,
        name="edit_account",
    ),
    path(
        "lab-accounts/<str:account_id>/status/",
        accounts.edit_lab_account_status,
        name="account_status",
    ),
    path(
        "lab-accounts/<str:account_id>/teams/",
        accounts.edit_lab_account_teams,
        name="account_teams",
    ),
]
