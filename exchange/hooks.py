"""What apps below call in the exchange app."""

from __future__ import annotations

from accounts.declarations.hooks import AppHooks
from exchange.operations.bulk_exports import remove_exports_with_user

HOOKS = AppHooks(user_erasers=(remove_exports_with_user,))
