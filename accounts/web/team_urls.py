"""Route members, keys, settings and profile; portal.urls mounts them."""

from __future__ import annotations

from django.urls import path

from accounts.web import assistants, columns, saved_views
from accounts.web.api_keys import call_log, management_keys, public_keys
from accounts.web.api_keys import views as api_keys
from accounts.web.audit import views as audit
from accounts.web.members import guides, invitations, profile, viewing
from accounts.web.members import views as members
from accounts.web.settings import (
    go_live,
    mails,
    notices,
    retention,
    sign_in,
    team_deletion,
)
from accounts.web.settings import views as settings
from accounts.web.sign_in import sessions

app_name = "team"
urlpatterns = [
    path("members/", members.show_members_page, name="members"),
    path("members/invite/", invitations.invite_member_page, name="invite"),
    path(
        "members/<str:member_id>/roles/", members.change_member_roles_page, name="roles"
    ),
    path("members/<str:member_id>/remove/", members.remove_member_page, name="remove"),
    path(
        "invitations/<str:invitation_id>/resend/",
        invitations.resend_member_invitation,
        name="resend",
    ),
    path(
        "invitations/<str:invitation_id>/withdraw/",
        invitations.revoke_invitation_page,
        name="withdraw",
    ),
    path("api-keys/", api_keys.show_api_keys_page, name="api_keys"),
    path("api-keys/create/", api_keys.create_api_key_page, name="create_key"),
    path("api-keys/<str:api_key_id>/", api_keys.show_api_key_page, name="api_key"),
    path(
        "api-keys/<str:api_key_id>/change/",
        api_keys.edit_api_key_page,
        name="change_key",
    ),
    path(
        "api-keys/<str:api_key_id>/public-keys/",
        public_keys.change_public_keys_page,
        name="public_keys",
    ),
    path(
        "api-keys/<str:api_key_id>/rotate/",
        api_keys.rotate_api_key_page,
        name="rotate_key",
    ),
    path(
        "api-keys/<str:api_key_id>/revoke/",
        api_keys.revoke_api_key_page,
        name="revoke_key",
    ),
    path(
        "management-keys/create/",
        management_keys.create_management_key_page,
        name="create_management_key",
    ),
    path(
        "management-keys/<str:management_key_id>/revoke/",
        management_keys.revoke_management_key_page,
        name="revoke_management_key",
    ),
    path("members/view-as/", viewing.view_team_as_role, name="view_as"),
    path(
        "members/view-as/stop/", viewing.stop_viewing_team_as_role, name="stop_viewing"
    ),
    path("columns/", columns.choose_list_columns, name="columns"),
    path("views/save/", saved_views.save_list_view_page, name="save_view"),
    path("views/<str:view_id>/", saved_views.edit_saved_view_page, name="view"),
    path(
        "views/<str:view_id>/delete/",
        saved_views.delete_saved_view_page,
        name="delete_view",
    ),
    path("api-log/", call_log.show_api_log, name="api_log"),
    path("assistants/", assistants.show_assistants, name="assistants"),
    path("assistants/switch/", assistants.switch_assistants, name="switch_assistants"),
    path("settings/", settings.show_team_settings, name="settings"),
    path("settings/sign-in/", sign_in.show_sign_in_settings, name="sign_in"),
    path(
        "settings/sign-in/rules/",
        sign_in.save_sign_in_rules,
        name="save_rules",
    ),
    path(
        "settings/sign-in/provider/",
        sign_in.save_single_sign_on_provider,
        name="save_provider",
    ),
    path(
        "settings/sign-in/provider/remove/",
        sign_in.remove_single_sign_on_page,
        name="remove_provider",
    ),
    path(
        "settings/notifications/",
        notices.edit_notification_settings,
        name="notifications",
    ),
    path("settings/emails/", mails.show_mails, name="mails"),
    path(
        "settings/emails/<str:mail_kind>/<str:mail_language>/",
        mails.edit_mail_page,
        name="mail",
    ),
    path(
        "settings/emails/<str:mail_kind>/<str:mail_language>/preview/",
        mails.preview_mail,
        name="preview_mail",
    ),
    path(
        "settings/emails/<str:mail_kind>/<str:mail_language>/reset/",
        mails.reset_mail_page,
        name="reset_mail",
    ),
    path(
        "settings/emails/<str:mail_kind>/<str:mail_language>/test/",
        mails.send_test_mail_page,
        name="test_mail",
    ),
    path("settings/retention/", retention.edit_retention_page, name="retention"),
    path("settings/go-live/", go_live.show_go_live_page, name="go_live"),
    path("settings/delete-team/", team_deletion.delete_team_page, name="delete_team"),
    path("settings/team/", settings.save_team_details, name="save_team"),
    path("settings/brand/", settings.save_team_brand, name="save_brand"),
    path("settings/behaviour/", settings.save_team_behaviour, name="save_behaviour"),
    path("audit/", audit.show_audit_log, name="audit"),
    path("audit/file/", audit.export_audit_log, name="audit_file"),
    path("audit/users/<str:user_id>/", audit.show_user_access_log, name="access_log"),
    path("profile/", profile.edit_profile_page, name="profile"),
    path(
        "profile/time-zone/", guides.use_browser_time_zone, name="use_browser_time_zone"
    ),
    path("guides/hide/", guides.hide_guide, name="hide_guide"),
    path("profile/password/", profile.change_password_page, name="password"),
    path(
        "profile/sign-out-elsewhere/",
        profile.sign_out_other_sessions,
        name="sign_out_elsewhere",
    ),
    path(
        "profile/sessions/<str:sign_in_id>/end/",
        sessions.sign_out_session,
        name="end_session",
    ),
]
