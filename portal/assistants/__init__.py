"""Assistants: tools of the Model Context Protocol that read what a key may read.

A process of its own serves them, by stdio or streamable HTTP. Each tool is answered by
calls of the API in this process, made with the assistant's own key, so that the fence
between tenants, scopes, limits, the call log and the audit are those of the API.
"""
