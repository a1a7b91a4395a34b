"""Paths below /v2/, in the order of contract 2.2: fixed segments come first."""

from __future__ import annotations

from portal.lib.api.views import endpoint
from users.api.v2.views.aggregates import AggregateView
from users.api.v2.views.demo_sources import DemoConnectionView
from users.api.v2.views.introspection import HistoriesView, ResourcesView
from users.api.v2.views.links import LinkProvidersView, LinkTokenView
from users.api.v2.views.refresh import DeviceListView, DeviceView, RefreshView
from users.api.v2.views.sign_in import SignInTokenView
from users.api.v2.views.sources import (
    ProviderListView,
    UserProvidersView,
    UserProviderView,
)
from users.api.v2.views.streams import SleepStreamView, WorkoutStreamView
from users.api.v2.views.summaries import summary_endpoints
from users.api.v2.views.timeseries import GroupedSamplesView, SampleBatchView
from users.api.v2.views.user_info import LatestUserInfoView, UserInfoView
from users.api.v2.views.users import (
    ResolveUserView,
    UndoDeleteUserView,
    UserListView,
    UserSearchView,
    UserView,
)

urlpatterns = [
    endpoint("user", UserListView, "api-users"),
    endpoint("user/undo_delete", UndoDeleteUserView, "api-user-undo-delete"),
    endpoint("user/resolve/<path:client_user_id>", ResolveUserView, "api-user-resolve"),
    endpoint("user/providers/<user_id>", UserProvidersView, "api-user-providers"),
    endpoint("user/refresh/<user_id>", RefreshView, "api-user-refresh"),
    endpoint("user/<user_id>", UserView, "api-user"),
    endpoint("user/<user_id>/info", UserInfoView, "api-user-info"),
    endpoint("user/<user_id>/info/latest", LatestUserInfoView, "api-user-info-latest"),
    endpoint("user/<user_id>/device", DeviceListView, "api-user-devices"),
    endpoint("user/<user_id>/device/<device_id>", DeviceView, "api-user-device"),
    endpoint("user/<user_id>/sign_in_token", SignInTokenView, "api-user-sign-in-token"),
    endpoint("user/<user_id>/<provider>", UserProviderView, "api-user-provider"),
    endpoint("team/users/search", UserSearchView, "api-user-search"),
    endpoint("providers", ProviderListView, "api-providers"),
    endpoint("link/connect/demo", DemoConnectionView, "api-link-demo"),
    endpoint("link/token", LinkTokenView, "api-link-token"),
    endpoint("link/providers", LinkProvidersView, "api-link-providers"),
    endpoint("introspect/resources", ResourcesView, "api-introspect-resources"),
    endpoint(
        "introspect/historical_pull", HistoriesView, "api-introspect-historical-pull"
    ),
    *summary_endpoints,
    endpoint(
        "timeseries/workouts/<workout_id>/stream",
        WorkoutStreamView,
        "api-workout-stream",
    ),
    endpoint("timeseries/sleep/<sleep_id>/stream", SleepStreamView, "api-sleep-stream"),
    endpoint("timeseries/<user_id>/<resource>", SampleBatchView, "api-timeseries"),
    endpoint(
        "timeseries/<user_id>/<resource>/grouped",
        GroupedSamplesView,
        "api-timeseries-grouped",
    ),
    endpoint("aggregate/<user_id>/<resource>", AggregateView, "api-aggregate"),
]
