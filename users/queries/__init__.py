"""Reads of users and what they have, by noun.

Must not be here: writes, or the shape of an answer.
"""

from users.queries.sources import (
    ProviderUse,
    SourceRow,
    arrivals_by_hour,
    connections_of,
    provider_uses,
    sources_of,
)
from users.queries.summaries import (
    SummaryPage,
    SummaryRow,
    find_summary,
    latest_summary,
    summaries_of,
    summary_page,
)
from users.queries.users import (
    COUNTED_UP_TO,
    SORTS,
    UserOverview,
    UserPage,
    UserRow,
    UserWithSources,
    find_user,
    find_users,
    latest_info,
    lock_user,
    new_users_per_day,
    resolve_user,
    user_count,
    user_overview,
    user_page,
    users_by_id,
    users_with_source,
)
from users.queries.workouts import (
    WorkoutStreamRow,
    birth_dates_by_source,
    heart_rates_of,
    workout_stream,
)

__all__ = [
    "COUNTED_UP_TO",
    "SORTS",
    "ProviderUse",
    "SourceRow",
    "SummaryPage",
    "SummaryRow",
    "UserOverview",
    "UserPage",
    "UserRow",
    "UserWithSources",
    "WorkoutStreamRow",
    "arrivals_by_hour",
    "birth_dates_by_source",
    "connections_of",
    "find_summary",
    "find_user",
    "find_users",
    "heart_rates_of",
    "latest_info",
    "latest_summary",
    "lock_user",
    "new_users_per_day",
    "provider_uses",
    "resolve_user",
    "sources_of",
    "summaries_of",
    "summary_page",
    "user_count",
    "user_overview",
    "user_page",
    "users_by_id",
    "users_with_source",
    "workout_stream",
]
