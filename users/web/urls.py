"""URLs of the users pages, mounted by portal.urls."""

from __future__ import annotations

from django.urls import path

from users.web.connect import links
from users.web.data import annotations as written
from users.web.data import imports, summaries
from users.web.explorer import page as explorer
from users.web.explorer import records, source_priority, workouts
from users.web.record import page as record
from users.web.sources import completeness, credentials, ranking
from users.web.sources import views as sources
from users.web.users import (
    bulk,
    csv_import,
    deletion,
    erasures,
    exports,
    parity,
    phones,
    views,
)

app_name = "users"
_SETTINGS = "settings/sources/<slug:provider>"
_SOURCE = "users/<str:user_id>/sources/<str:provider>"
urlpatterns = [
    path("settings/sources/", credentials.show_source_settings, name="source_settings"),
    path(
        "settings/sources/emails/",
        credentials.change_reconnect_mails,
        name="change_reconnect_mails",
    ),
    path(
        f"{_SETTINGS}/", credentials.edit_source_credentials, name="source_credentials"
    ),
    path(
        f"{_SETTINGS}/try/",
        credentials.try_stored_source_credentials,
        name="try_source_credentials",
    ),
    path(
        f"{_SETTINGS}/remove/",
        credentials.remove_stored_source_credentials,
        name="remove_source_credentials",
    ),
    path("source-priority/", ranking.rank_team_sources, name="team_ranking"),
    path("users/", views.show_user_list, name="list"),
    path("users/file/", views.download_user_list, name="file"),
    path("users/selected/", bulk.act_on_users, name="bulk_users"),
    path("users/resolve/", views.look_up_user, name="resolve"),
    path("erasures/", erasures.list_erasure_receipts, name="erasures"),
    path("erasures/<str:receipt_id>/", erasures.show_erasure_receipt, name="receipt"),
    path("deleted-users/", deletion.show_deleted_users, name="deleted"),
    path(
        "deleted-users/<str:user_id>/undo/",
        deletion.undo_user_deletion,
        name="undo_delete",
    ),
    path("parity/", parity.show_parity_reports, name="parity"),
    path("users/import/", csv_import.show_user_csv_import, name="import_users"),
    path("users/<str:user_id>/", record.show_user, name="page"),
    path(
        "users/<str:user_id>/developers/",
        record.show_user_for_developers,
        name="developers",
    ),
    path(
        "users/<str:user_id>/delete/",
        deletion.confirm_user_deletion,
        name="delete",
    ),
    path("users/<str:user_id>/refresh/", sources.refresh_user_sources, name="refresh"),
    path(f"{_SOURCE}/", sources.show_source, name="source"),
    path(f"{_SOURCE}/pause/", sources.pause_user_source, name="pause_source"),
    path(f"{_SOURCE}/resume/", sources.resume_user_source, name="resume_source"),
    path(
        f"{_SOURCE}/disconnect/",
        sources.disconnect_user_source,
        name="disconnect_source",
    ),
    path(
        "users/<str:user_id>/summaries/",
        summaries.show_sleep_and_cycle_charts,
        name="summaries",
    ),
    path("users/<str:user_id>/explorer/", explorer.show_data_explorer, name="explorer"),
    path(
        "users/<str:user_id>/explorer/file/",
        explorer.download_explorer_data,
        name="explorer_file",
    ),
    path(
        "users/<str:user_id>/annotations/",
        written.show_annotations,
        name="annotations",
    ),
    path(
        "users/<str:user_id>/annotations/add/",
        written.write_annotation,
        name="add_annotation",
    ),
    path(
        "users/<str:user_id>/annotations/<str:annotation_id>/",
        written.edit_annotation,
        name="edit_annotation",
    ),
    path(
        "users/<str:user_id>/annotations/<str:annotation_id>/delete/",
        written.remove_annotation,
        name="delete_annotation",
    ),
    path(
        "users/<str:user_id>/completeness/",
        completeness.show_completeness,
        name="completeness",
    ),
    path("users/<str:user_id>/record/", records.show_data_record, name="record"),
    path(
        "users/<str:user_id>/workouts/<str:workout_id>/",
        workouts.show_workout,
        name="workout",
    ),
    path(
        "users/<str:user_id>/ledger/",
        source_priority.show_source_priority,
        name="ledger",
    ),
    path(
        "users/<str:user_id>/ledger/rank/",
        source_priority.rank_user_source,
        name="rank_source",
    ),
    path(
        "users/<str:user_id>/source-priority/",
        ranking.rank_user_sources,
        name="user_ranking",
    ),
    path(
        "users/<str:user_id>/imports/", imports.show_health_data_imports, name="imports"
    ),
    path(
        "users/<str:user_id>/imports/<str:import_id>/",
        imports.show_health_data_import,
        name="import",
    ),
    path(
        "users/<str:user_id>/imports/<str:import_id>/confirm/",
        imports.confirm_data_import,
        name="confirm_import",
    ),
    path(
        "users/<str:user_id>/imports/<str:import_id>/cancel/",
        imports.cancel_data_import,
        name="cancel_import",
    ),
    path(
        "users/<str:user_id>/phones/<str:phone_id>/disconnect/",
        phones.disconnect_user_phone,
        name="disconnect_phone",
    ),
    path("users/<str:user_id>/exports/", exports.show_user_exports, name="exports"),
    path(
        "users/<str:user_id>/exports/<str:export_id>/file/",
        exports.download_user_export,
        name="export_file",
    ),
    path(
        "users/<str:user_id>/links/",
        links.create_connect_link_for_user,
        name="links",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/",
        links.show_connect_link,
        name="link",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/mail/",
        links.send_connect_link_by_email,
        name="mail_link",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/end/",
        links.revoke_connect_link,
        name="end_link",
    ),
]
