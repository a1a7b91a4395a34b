"""Resolves /t/<team>/<environment>/ to a tenant; being written."""

from __future__ import annotations


class TenantMiddleware:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)
