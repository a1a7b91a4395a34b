"""Route members, keys, settings and profile; portal.urls mounts them."""

from __future__ import annotations

from django.urls import path

from accounts.web import (
    api_calls,
    api_keys,
    audit,
    invitations,
    management_keys,
    members,
    notices,
    profile,
    retention,
    saved_views,
    sessions,
    settings,
    sign_in_settings,
    team_deletion,
    viewing,
)

app_name = "team"
urlpatterns = [
    path("members/", members.member_list, name="members"),
    path("members/invite/", invitations.invite, name="invite"),
    path("members/<str:member_id>/roles/", members.change_member_roles, name="roles"),
    path("members/<str:member_id>/remove/", members.remove_member_page, name="remove"),
    path("invitations/<str:invitation_id>/resend/", invitations.resend, name="resend"),
    path(
        "invitations/<str:invitation_id>/withdraw/", invitations.revoke, name="withdraw"
    ),
    path("api-keys/", api_keys.key_list, name="api_keys"),
    path("api-keys/create/", api_keys.create, name="create_key"),
    path("api-keys/<str:api_key_id>/", api_calls.key_page, name="api_key"),
    path("api-keys/<str:api_key_id>/change/", api_keys.change, name="change_key"),
    path("api-keys/<str:api_key_id>/rotate/", api_keys.rotate, name="rotate_key"),
    path("api-keys/<str:api_key_id>/revoke/", api_keys.revoke, name="revoke_key"),
    path(
        "management-keys/create/", management_keys.create, name="create_management_key"
    ),
    path(
        "management-keys/<str:management_key_id>/revoke/",
        management_keys.revoke,
        name="revoke_management_key",
    ),
    path("members/view-as/", viewing.start_viewing_as, name="view_as"),
    path("members/view-as/stop/", viewing.stop_viewing_as, name="stop_viewing"),
    path("views/save/", saved_views.save, name="save_view"),
    path("views/<str:view_id>/", saved_views.change, name="view"),
    path("views/<str:view_id>/delete/", saved_views.delete, name="delete_view"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/sign-in/", sign_in_settings.sign_in_page, name="sign_in"),
    path("settings/sign-in/rules/", sign_in_settings.save_rules, name="save_rules"),
    path(
        "settings/sign-in/provider/",
        sign_in_settings.save_provider,
        name="save_provider",
    ),
    path(
        "settings/sign-in/provider/remove/",
        sign_in_settings.remove_provider,
        name="remove_provider",
    ),
    path("settings/notifications/", notices.notifications, name="notifications"),
    path("settings/retention/", retention.retention, name="retention"),
    path("settings/delete-team/", team_deletion.delete_team_page, name="delete_team"),
    path("settings/team/", settings.save_team, name="save_team"),
    path("settings/brand/", settings.save_brand, name="save_brand"),
    path("settings/behaviour/", settings.save_behaviour, name="save_behaviour"),
    path("audit/", audit.audit, name="audit"),
    path("audit/file/", audit.audit_file, name="audit_file"),
    path("audit/users/<str:user_id>/", audit.access_log, name="access_log"),
    path("profile/", profile.profile, name="profile"),
    path("profile/password/", profile.password, name="password"),
    path(
        "profile/sign-out-elsewhere/",
        profile.sign_out_elsewhere,
        name="sign_out_elsewhere",
    ),
    path("profile/sessions/<str:sign_in_id>/end/", sessions.end, name="end_session"),
]
