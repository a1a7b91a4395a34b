"""Data about the API whose retention a team chooses."""

from __future__ import annotations

from django.conf import settings

from accounts.declarations.data_classes import DataClass
from accounts.operations.api_keys.call_log import (
    count_api_calls_before,
    delete_tenant_api_calls_before,
)
from portal.lib.translation import gettext_lazy

DATA_CLASSES = {
    "api_calls": DataClass(
        rank=15,
        title=gettext_lazy("API call log"),
        says=gettext_lazy("Which key called what and when. Responses are not stored."),
        count=count_api_calls_before,
        remove=delete_tenant_api_calls_before,
        usual_days=max(settings.API_CALL_LOG_DAYS, 1),
        most_days=max(settings.API_CALL_LOG_DAYS, 1),
    ),
}
