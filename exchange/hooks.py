"""What apps below call in the exchange app."""

from __future__ import annotations

from accounts.declarations.hooks import AppHooks
from exchange.operations.bulk_exports import remove_exports_with_user
from exchange.operations.lake.erasure import (
    erase_user_from_lake,
    remove_lake_of_tenant,
)

HOOKS = AppHooks(
    user_erasers=(remove_exports_with_user,),
    tenant_erasers=(remove_lake_of_tenant,),
    copy_erasers=(erase_user_from_lake,),
)
