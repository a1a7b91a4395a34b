"""The pages of users; portal.urls says where they are mounted."""

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
    path("users/resolve/", views.resolve, name="resolve"),
    path("erasures/", erasures.erasures, name="erasures"),
    path("erasures/<str:receipt_id>/", erasures.receipt, name="receipt"),
    path("deleted-users/", user_deletion.deleted, name="deleted"),
    path("deleted-users/<str:user_id>/undo/", user_deletion.undo, name="undo_delete"),
    path("users/import/", user_import.import_page, name="import_users"),
    path("users/<str:user_id>/", views.user_page, name="page"),
    path("users/<str:user_id>/delete/", user_deletion.delete, name="delete"),
    path("users/<str:user_id>/refresh/", sources.refresh, name="refresh"),
    path(f"{_SOURCE}/", sources.source, name="source"),
    path(f"{_SOURCE}/pause/", sources.pause, name="pause_source"),
    path(f"{_SOURCE}/resume/", sources.resume, name="resume_source"),
    path(f"{_SOURCE}/disconnect/", sources.disconnect, name="disconnect_source"),
    path("users/<str:user_id>/summaries/", summaries.summaries, name="summaries"),
    path("users/<str:user_id>/explorer/", explorer.explorer, name="explorer"),
    path(
        "users/<str:user_id>/explorer/file/",
        explorer.explorer_file,
        name="explorer_file",
    ),
    path("users/<str:user_id>/record/", records.record, name="record"),
    path(
        "users/<str:user_id>/workouts/<str:workout_id>/",
        workouts.workout,
        name="workout",
    ),
    path("users/<str:user_id>/ledger/", ledger.ledger, name="ledger"),
    path("users/<str:user_id>/imports/", imports.imports, name="imports"),
    path(
        "users/<str:user_id>/imports/<str:import_id>/",
        imports.import_page,
        name="import",
    ),
    path(
        "users/<str:user_id>/imports/<str:import_id>/cancel/",
        imports.cancel,
        name="cancel_import",
    ),
    path("users/<str:user_id>/exports/", user_exports.exports, name="exports"),
    path(
        "users/<str:user_id>/exports/<str:export_id>/file/",
        user_exports.export_file,
        name="export_file",
    ),
    path("users/<str:user_id>/links/", connect_links.links, name="links"),
    path(
        "users/<str:user_id>/links/<str:session_id>/", connect_links.link, name="link"
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/mail/",
        connect_links.mail,
        name="mail_link",
    ),
    path(
        "users/<str:user_id>/links/<str:session_id>/end/",
        connect_links.end,
        name="end_link",
    ),
]
