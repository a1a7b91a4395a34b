"""Names of the lake's files: one folder for each environment, to be handed out alone.

v1/team=<team ID>/environment=production/
    schema.json
    samples/month=2026-10/samples.parquet     all users
    samples/month=2026-11/samples-a.parquet   those whose ID begins with a
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.payloads.lake.schema import VERSION

if TYPE_CHECKING:
    from accounts.models import Tenant
    from exchange.payloads.lake.rows import Extract

ROOT = f"v{VERSION}"
# Ours: files of some 100 MB, for wearers of 5,000 samples a day. Whoever is erased has
# one made again for each month.
_USERS_OF_A_FILE = 500


def get_environment_folder(tenant: Tenant) -> str:
    """Return the folder of all files of an environment."""
    return f"{ROOT}/team={tenant.team_id}/environment={tenant.environment}"


def get_schema_file(tenant: Tenant) -> str:
    """Return the name of the schema beside an environment's files."""
    return f"{get_environment_folder(tenant)}/schema.json"


def get_extract_file(extract: Extract) -> str:
    """Return the name of a file."""
    part = f"-{extract.part}" if extract.part else ""
    return (
        f"{get_environment_folder(extract.tenant)}/{extract.dataset}"
        f"/month={extract.month:%Y-%m}/{extract.dataset}{part}.parquet"
    )


def choose_part_length(users: int) -> int:
    """Return how many digits of a user's ID the files of a new month are split by."""
    for length in range(2):
        if users <= _USERS_OF_A_FILE * 16**length:
            return length
    return 2
