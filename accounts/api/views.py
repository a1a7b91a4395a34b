"""The base of every API view behind an API key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portal.lib.api.views import KeyedAPIView
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from accounts.models import Tenant


class TenantAPIView(KeyedAPIView):
    """A view behind `x-service-api-key`: `self.tenant` is set too.

    The whole of it runs inside `acting_for(tenant)`.
    """

    tenant: Tenant

    def enter(self, grant: Any, **path: str) -> AbstractContextManager[None]:
        self.tenant = self.find_tenant(grant, **path)
        return acting_for(self.tenant)

    def find_tenant(self, grant: Any, **path: str) -> Tenant:
        """The tenant that a key opens, at this path."""
        tenant: Tenant = grant.tenant
        return tenant
