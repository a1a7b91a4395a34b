"""Django's WSGI application, as portal.server serves it."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

application = get_wsgi_application()

# They need the apps.
from django.urls import get_resolver  # noqa: E402 - as above

from accounts.api.call_log import flush_api_call_log, start_api_call_log  # noqa: E402 - as above
from portal.docs.search import start_docs_search  # noqa: E402 - as above
from portal.lib.database.time_limits import limit_database_statement_time  # noqa: E402 - as above
from portal.lib.jobs.jobs import load_declared_jobs  # noqa: E402 - as above

# Before the first request, which would wait for it.
_ = get_resolver().url_patterns
load_declared_jobs()
limit_database_statement_time()
start_api_call_log()
# What is loaded stays. Each search for garbage would go through all of it, which took
# two fifths of the time of a list of fifty orders. And a call of the API leaves none:
# to search as often as usual took a sixth of the time of a week of samples.
gc.collect()
gc.freeze()
gc.set_threshold(20_000)
start_docs_search()


def flush_before_exit() -> None:
    """Write the call log, which is held in memory, before this process ends."""
    flush_api_call_log()
