"""URLs of the connect page; a link's holder is not a member."""

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
    path("back/<str:provider>/", connect.sign_in_return, name="back"),
    path("<str:session_id>/", connect.connect_page, name="page"),
    path("<str:session_id>/close/", connect.close_page, name="close"),
    path(
        "<str:session_id>/imports/<str:import_id>/",
        connect_files.import_progress,
        name="progress",
    ),
    path(
        "<str:session_id>/imports/<str:import_id>/finish/",
        connect_files.return_to_company,
        name="finish",
    ),
    path("<str:session_id>/<str:provider>/file/", connect_files.add_file, name="file"),
    path(
        "<str:session_id>/<str:provider>/sign-in/",
        connect.redirect_to_sign_in,
        name="sign_in",
    ),
    path("<str:session_id>/<str:provider>/demo/", connect.use_demo_data, name="demo"),
    path(
        "<str:session_id>/<str:provider>/disconnect/",
        connect_portal.disconnect_page,
        name="disconnect",
    ),
]
