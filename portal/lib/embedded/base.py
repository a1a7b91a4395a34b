"""Database backend that starts the bundled PostgreSQL on the first connection.

Settings name it as ENGINE when `DATABASE_URL` is absent, so importing settings starts
nothing. It only fills in where the server listens; how a server lives is `server`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

from portal.lib.embedded import server


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        """Return psycopg's parameters, with a server that answers behind them.

        CLUSTER in the settings dictionary chooses the data folder (`demo`, or `test`
        in tests/database.py). Raises: ServerUnavailable. Source: Ours (architecture 1).
        """
        if not self.settings_dict["HOST"]:
            running = server.start_embedded_postgres(
                cluster=self.settings_dict.get("CLUSTER", server.DEMO),
                root=embedded_postgres_data_folder(),
            )
            self.settings_dict.update(
                HOST=str(running.socket_folder),
                PORT=str(server.PORT),
                USER=server.ROLE,
            )
        return super().get_connection_params()


def embedded_postgres_data_folder() -> Path:
    """Return the folder that holds the data folders, as settings or default say.

    Source: Ours (architecture 1).
    """
    chosen = getattr(settings, "EMBEDDED_POSTGRES_DIR", "")
    return Path(chosen).resolve() if chosen else server.default_postgres_data_folder()
