"""Paths below /v2/, in the order of contract 2.2: fixed segments come first."""

from __future__ import annotations

from portal.lib.api.views import mount_api_view
from users.api.v2.views.aggregates import AggregateView
from users.api.v2.views.bulk import (
    BulkExportView,
    BulkHistoryView,
    BulkImportView,
    BulkOperationListView,
    BulkPauseView,
)
from users.api.v2.views.completeness import CompletenessView
from users.api.v2.views.demo_sources import DemoConnectionView
from users.api.v2.views.former import UserSamplesView, former_endpoints
from users.api.v2.views.introspection import HistoriesView, ResourcesView
from users.api.v2.views.links import (
    LinkCodeView,
    LinkOAuthView,
    LinkProvidersView,
    LinkTokenView,
)
from users.api.v2.views.phones import PhoneListView, PhoneView
from users.api.v2.views.refresh import DeviceListView, DeviceView, RefreshView
from users.api.v2.views.sign_in import SignInTokenView
from users.api.v2.views.source_priorities import SourcePrioritiesView
from users.api.v2.views.sources import (
    ProviderListView,
    UserProvidersView,
    UserProviderView,
)
from users.api.v2.views.streams import SleepStreamView, WorkoutStreamView
from users.api.v2.views.summaries import summary_endpoints
from users.api.v2.views.timeseries import GroupedSamplesView
from users.api.v2.views.user_info import LatestUserInfoView, UserInfoView
from users.api.v2.views.users import (
    ResolveUserView,
    UndoDeleteUserView,
    UserListView,
    UserSearchView,
    UserView,
)

urlpatterns = [
    # First, as each path that does not fit costs a call time.
    mount_api_view(
        "timeseries/workouts/<workout_id>/stream",
        WorkoutStreamView,
        "api-workout-stream",
    ),
    mount_api_view(
        "timeseries/sleep/<sleep_id>/stream", SleepStreamView, "api-sleep-stream"
    ),
    mount_api_view(
        "timeseries/<user_id>/<resource>", UserSamplesView, "api-timeseries"
    ),
    mount_api_view(
        "timeseries/<user_id>/<resource>/grouped",
        GroupedSamplesView,
        "api-timeseries-grouped",
    ),
    mount_api_view("user", UserListView, "api-users"),
    mount_api_view("user/undo_delete", UndoDeleteUserView, "api-user-undo-delete"),
    mount_api_view(
        "user/resolve/<path:client_user_id>", ResolveUserView, "api-user-resolve"
    ),
    mount_api_view("user/providers/<user_id>", UserProvidersView, "api-user-providers"),
    mount_api_view("user/refresh/<user_id>", RefreshView, "api-user-refresh"),
    mount_api_view("user/<user_id>", UserView, "api-user"),
    mount_api_view("user/<user_id>/info", UserInfoView, "api-user-info"),
    mount_api_view(
        "user/<user_id>/info/latest", LatestUserInfoView, "api-user-info-latest"
    ),
    mount_api_view("user/<user_id>/device", DeviceListView, "api-user-devices"),
    mount_api_view("user/<user_id>/device/<device_id>", DeviceView, "api-user-device"),
    mount_api_view("user/<user_id>/phone", PhoneListView, "api-user-phones"),
    mount_api_view("user/<user_id>/phone/<phone_id>", PhoneView, "api-user-phone"),
    mount_api_view(
        "user/<user_id>/sign_in_token", SignInTokenView, "api-user-sign-in-token"
    ),
    mount_api_view(
        "user/<user_id>/completeness", CompletenessView, "api-user-completeness"
    ),
    mount_api_view("user/<user_id>/<provider>", UserProviderView, "api-user-provider"),
    mount_api_view("team/users/search", UserSearchView, "api-user-search"),
    mount_api_view(
        "team/source/priorities", SourcePrioritiesView, "api-source-priorities"
    ),
    mount_api_view("providers", ProviderListView, "api-providers"),
    mount_api_view("link/connect/demo", DemoConnectionView, "api-link-demo"),
    mount_api_view("link/code/create", LinkCodeView, "api-link-code"),
    mount_api_view("link/token", LinkTokenView, "api-link-token"),
    mount_api_view("link/providers", LinkProvidersView, "api-link-providers"),
    mount_api_view(
        "link/provider/oauth/<provider>", LinkOAuthView, "api-link-provider-oauth"
    ),
    mount_api_view("link/bulk_import", BulkImportView, "api-link-bulk-import"),
    mount_api_view("link/bulk_export", BulkExportView, "api-link-bulk-export"),
    mount_api_view("link/bulk_pause", BulkPauseView, "api-link-bulk-pause"),
    mount_api_view(
        "link/bulk_trigger_historical_pull", BulkHistoryView, "api-link-bulk-history"
    ),
    mount_api_view("link/bulk_op", BulkOperationListView, "api-link-bulk-operations"),
    mount_api_view("introspect/resources", ResourcesView, "api-introspect-resources"),
    mount_api_view(
        "introspect/historical_pull", HistoriesView, "api-introspect-historical-pull"
    ),
    *summary_endpoints,
    *former_endpoints,
    mount_api_view("aggregate/<user_id>/<resource>", AggregateView, "api-aggregate"),
]
