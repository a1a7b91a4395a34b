"""URLs of the users pages, mounted by portal.urls."""

from __future__ import annotations

from django.urls import path

from users.web import (
    connect_links,
    erasures,
    explorer,
    imports,
    ledger,
    records,
    sources,
    summaries,
    user_deletion,
    user_exports,
    user_import,
    views,
    workouts,
)

app_name = "users"
_SOURCE = "users/<str:user_id>/sources/<str:provider>"
urlpatterns = [
    path("users/", views.user_list, name="list"),
    path("users/file/", views.user_file, name="file"),
    path("users/resolve/", views.look_up_user, name="resolve"),
    path("erasures/", erasures.receipt_list, name="erasures"),
    path("erasures/<str:receipt_id>/", erasures.receipt_page, name="receipt"),
    path("deleted-users/", user_deletion.deleted_users_page, name="deleted"),
    path(
        "deleted-users/<str:user_id>/undo/",
        user_deletion.undo_deletion,
        name="undo_delete",
    ),
    path("users/import/", user_import.import_page, name="import_users"),
    path("users/<str:user_id>/", views.user_page, name="page"),
    path("users/<str:user_id>/delete/", user_deletion.confirm_deletion, name="delete"),
    path("users/<str:user_id>/refresh/", sources.sources_refresh, name="refresh"),
    path(f"{_SOURCE}/", sources.source_page, name="source"),
    path(f"{_SOURCE}/pause/", sources.source_pause, name="pause_source"),
    path(f"{_SOURCE}/resume/", sources.source_resume, name="resume_source"),
    path(f"{_SOURCE}/disconnect/", sources.source_disconnect, name="disconnect_source"),
    path("users/<str:user_id>/summaries/", summaries.summaries_page, name="summaries"),
    path("users/<str:user_id>/explorer/", explorer.explorer_page, name="explorer"),
    path(
        "users/<str:user_id>/explorer/file/",
        explorer.explorer_file,
        name="explorer_file",
    ),
    path("users/<str:user_id>/record/", records.record_page, name="record"),
    path(
        "users/<str:user_id>/workouts/<str:workout_id>/",
        workouts.workout_page,
        name="workout",
    ),
    path("users/<str:user_id>/ledger/", ledger.source_priority, name="ledger"),
    path("users/<str:user_id>/imports/", imports.import_list, name="imports"),
    path(
        "users/<str:user_id>/imports/<str:import_id>/",
        imports.import_page,
        name="import",
    ),
    path(
        "users/<str:user_id>/imports/<str:import_id>/cancel/",
        imports.import_cancel,
        name="cancel_import",
    ),
    path("users/<str:user_id>/exports/", user_exports.export_list, name="exports"),
    path(
        "users/<str:user_id>/exports/<str:export_id>/file/",
        user_exports.export_file,
        name="export_file",
    ),
    path("users/<str:user_id>/links/", connect_links.new_link, name="links"),
    path(
        "users/<str:user_id>/links/<str:session_id>/",
        connect_links.link_page,
        name="link",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/mail/",
        connect_links.send_link,
        name="mail_link",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/end/",
        connect_links.revoke_link,
        name="end_link",
    ),
]
