"""The base of every API view behind an API key."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import AuthenticationFailed

from accounts.queries.tenants import find_tenant_of_version
from portal.lib.api.views import KeyedAPIView
from portal.lib.budgets import AFTER_ANSWER, TEAM
from portal.lib.tenancy import acting_for_with_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.models import Tenant


class TenantAPIView(KeyedAPIView):
    """A view behind `x-service-api-key`: `self.tenant` is set too.

    The whole of it runs inside `acting_for(tenant)`. Keys are kept for a while; the
    tenant and its settings are those of the call's moment.
    """

    tenant: Tenant

    @contextmanager
    def enter(self, grant: Any, **path: str) -> Iterator[None]:
        known = self.find_tenant(grant, **path)
        after_answer = self.request.META.get(AFTER_ANSWER)
        with acting_for_with_version(known, after_answer=after_answer) as version:
            tenant = find_tenant_of_version(known.pk, version)
            if tenant is None or tenant.team.deleted_at is not None:
                raise AuthenticationFailed
            self.tenant = tenant
            self.request.META[TEAM] = str(tenant.pk)
            yield

    def find_tenant(self, grant: Any, **path: str) -> Tenant:
        """The tenant that a key opens, at this path."""
        tenant: Tenant = grant.tenant
        return tenant
