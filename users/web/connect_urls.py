"""The connect page, outside of every team's pages: who holds a link is not a member."""

from __future__ import annotations

from django.urls import path

from users.web import (
    connect,
    connect_brand,
    connect_entry,
    connect_files,
    connect_portal,
)

app_name = "connect"
urlpatterns = [
    path("", connect_entry.open_link, name="open"),
    path("colors/<str:color>.css", connect_brand.brand_sheet, name="colors"),
    path("back/<str:provider>/", connect.back, name="back"),
    path("<str:session_id>/", connect.page, name="page"),
    path("<str:session_id>/close/", connect.close, name="close"),
    path(
        "<str:session_id>/imports/<str:import_id>/",
        connect_files.progress,
        name="progress",
    ),
    path(
        "<str:session_id>/imports/<str:import_id>/finish/",
        connect_files.finish,
        name="finish",
    ),
    path("<str:session_id>/<str:provider>/file/", connect_files.add_file, name="file"),
    path("<str:session_id>/<str:provider>/sign-in/", connect.sign_in, name="sign_in"),
    path("<str:session_id>/<str:provider>/demo/", connect.demo, name="demo"),
    path(
        "<str:session_id>/<str:provider>/disconnect/",
        connect_portal.disconnect,
        name="disconnect",
    ),
]
