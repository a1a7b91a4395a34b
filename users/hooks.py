"""What apps below call in the users app."""

from __future__ import annotations

from accounts.declarations.hooks import AppHooks
from users.operations.erasure import erase_user_samples
from users.operations.imports.files import erase_user_imports
from users.operations.users.export import erase_user_exports
from users.operations.users.tenant_erasure import erase_all_users
from users.queries.users.names import BOOK

HOOKS = AppHooks(
    user_erasers=(erase_user_samples, erase_user_exports, erase_user_imports),
    tenant_erasers=(erase_all_users,),
    user_books=(BOOK,),
)
