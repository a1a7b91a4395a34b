"""The base of every API view behind an API key."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from rest_framework.exceptions import AuthenticationFailed

from accounts.queries.tenants import find_tenant_of_version
from portal.lib.api.views import KeyedAPIView
from portal.lib.budgets import AFTER_ANSWER, TEAM
from portal.lib.tenancy import acting_for_with_version, read_tenant_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.models import Tenant
    from portal.lib.database.prepared import Read


class TenantAPIView(KeyedAPIView):
    """A view behind `x-service-api-key`: `self.tenant` is set too.

    The whole of it runs inside `acting_for(tenant)`, but for a view that reads no rows,
    and for what comes after a read that is recorded as the last. Keys are kept for a
    while; the tenant and its settings are those of the call's moment.
    """

    tenant: Tenant
    # False of a view that reads no rows: it runs without a tenant named.
    reads_rows: ClassVar[bool] = True

    @contextmanager
    def enter(self, grant: Any, **path: str) -> Iterator[None]:
        known = self.find_tenant(grant, **path)
        if not self.reads_rows:
            self._set_tenant(known, read_tenant_version(known))
            yield
            return
        scope = acting_for_with_version(
            known,
            first=self.find_first_read(known, **path),
            after_answer=self.request.META.get(AFTER_ANSWER),
        )
        with scope as version:
            self._set_tenant(known, version)
            yield

    def _set_tenant(self, known: Tenant, version: str) -> None:
        tenant = find_tenant_of_version(known.pk, version)
        if tenant is None or tenant.team.deleted_at is not None:
            raise AuthenticationFailed
        self.tenant = tenant
        self.request.META[TEAM] = str(tenant.pk)

    def find_tenant(self, grant: Any, **path: str) -> Tenant:
        """The tenant that a key opens, at this path."""
        tenant: Tenant = grant.tenant
        return tenant

    def find_first_read(self, tenant: Tenant, **path: str) -> Read | None:
        """What the view reads first, by a prepared statement; None if not known yet.

        It is read in the round trip that names the tenant.
        """
        return None
