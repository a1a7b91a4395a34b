"""URLs of the connect page; a link's holder is not a member."""

from __future__ import annotations

from django.urls import path

from users.web.connect import (
    brand,
    entry,
    files,
    languages,
    mails,
    phones,
    portal,
)
from users.web.connect import page as connect

app_name = "connect"
urlpatterns = [
    path("", entry.open_connect_link, name="open"),
    path("colors/<str:color>.css", brand.serve_brand_stylesheet, name="colors"),
    path("emails/", mails.confirm_and_stop_mails, name="stop_mails"),
    path("back/<str:provider>/", connect.return_from_source_sign_in, name="back"),
    path("<str:session_id>/", connect.show_connect_page, name="page"),
    path("<str:session_id>/close/", connect.close_connect_page, name="close"),
    path("<str:session_id>/language/", languages.choose_language, name="language"),
    path("<str:session_id>/phone/", phones.connect_phone, name="phone"),
    path(
        "<str:session_id>/phone/codes/<str:code_id>/",
        phones.show_pairing_progress,
        name="pairing",
    ),
    path(
        "<str:session_id>/phone/<str:phone_id>/disconnect/",
        phones.disconnect_phone,
        name="disconnect_phone",
    ),
    path(
        "<str:session_id>/imports/<str:import_id>/",
        files.show_import_progress,
        name="progress",
    ),
    path(
        "<str:session_id>/imports/<str:import_id>/finish/",
        files.redirect_to_company_after_import,
        name="finish",
    ),
    path(
        "<str:session_id>/<str:provider>/file/",
        files.upload_file_on_connect_page,
        name="file",
    ),
    path(
        "<str:session_id>/<str:provider>/sign-in/",
        connect.redirect_to_source_sign_in,
        name="sign_in",
    ),
    path(
        "<str:session_id>/<str:provider>/demo/",
        connect.connect_demo_source_to_user,
        name="demo",
    ),
    path(
        "<str:session_id>/<str:provider>/disconnect/",
        portal.confirm_and_disconnect_portal_source,
        name="disconnect",
    ),
]
