"""The server of the Model Context Protocol: lists tools and answers their calls."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolResult,
    ListToolsResult,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from accounts.operations.assistants import AssistantQuestion, record_assistant_call
from portal.assistants.calls import ToolRefused
from portal.assistants.marking import NOTICE, bound_rows, mark_record_data
from portal.assistants.tools import NO_TOOL, TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, PaginatedRequestParams

    from portal.assistants.calls import ApiCalls
    from portal.assistants.tools import Tool

INSTRUCTIONS = (
    "Read-only access to health data in Assay. Begin with find_user. Cite the record"
    " IDs of what you say. " + NOTICE
)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RECORDS_MAX = 200
_NOT_OF_A_NAME = re.compile(r"[^\w .()/-]")


def answer_tool(
    api: ApiCalls, name: str, arguments: dict[str, Any], *, client: str
) -> tuple[dict[str, Any], bool]:
    """Answer a tool's call, record it, and return the answer and if it was refused.

    The answer cites the IDs of the records that it was made of.
    """
    began = time.perf_counter()
    tool = TOOLS.get(name, NO_TOOL)
    said: dict[str, Any] = {}
    refusal, detail = "", ""
    try:
        check_tool_arguments(tool, arguments)
        detail = tool.describe(arguments)
        found = tool.answer(api, arguments)
        data, is_cut = bound_rows(mark_record_data(found.data))
        said = {
            "notice": NOTICE,
            "data": data,
            "records": _list_records([arguments, data]),
            "left_out": found.left_out,
            "is_cut": is_cut,
        }
    except ToolRefused as refused:
        refusal = refused.code
        said = {"error": refused.code, "message": refused.words}
    ms = round((time.perf_counter() - began) * 1000)
    record_assistant_call(
        grant=api.grant,
        question=AssistantQuestion(
            tool=tool.name,
            detail=detail,
            client=_NOT_OF_A_NAME.sub("", client).strip(),
            user_uuid=_read_user(arguments),
            calls=api.number,
            ms=ms,
            refusal=refusal,
        ),
    )
    return {**said, "cost": {"calls": api.number, "ms": ms}}, bool(refusal)


def check_tool_arguments(tool: Tool, arguments: dict[str, Any]) -> None:
    """Raises: ToolRefused (tool_unknown, invalid)."""
    if tool is NO_TOOL:
        raise ToolRefused("tool_unknown", "There is no such tool.")
    invalid = next(Draft202012Validator(tool.schema).iter_errors(arguments), None)
    if invalid is not None:
        where = ".".join(str(each) for each in invalid.path) or "arguments"
        raise ToolRefused("invalid", f"Not valid: {where}.")


def build_assistant_server(
    find_caller: Callable[[ServerRequestContext[Any, Any]], ApiCalls],
    threads: Executor,
) -> Server[Any]:
    """Return a server whose calls are made as `find_caller` says, in `threads`.

    It may ask the database. Raises: ToolRefused.
    """

    async def list_tools(
        _context: ServerRequestContext[Any, Any],
        _params: PaginatedRequestParams | None,
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_list_tool(name) for name in TOOLS])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        answer, is_refused = await asyncio.get_running_loop().run_in_executor(
            threads, _answer, find_caller, context, params
        )
        return CallToolResult(
            content=[TextContent(type="text", text=orjson.dumps(answer).decode())],
            structured_content=answer,
            is_error=is_refused,
        )

    return Server(
        "assay",
        title="Assay",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _answer(
    find_caller: Callable[[ServerRequestContext[Any, Any]], ApiCalls],
    context: ServerRequestContext[Any, Any],
    params: CallToolRequestParams,
) -> tuple[dict[str, Any], bool]:
    try:
        api = find_caller(context)
    except ToolRefused as refused:
        return {"error": refused.code, "message": refused.words}, True
    client = _find_client(context)
    return answer_tool(api, params.name, params.arguments or {}, client=client)


def _list_tool(name: str) -> ListedTool:
    tool = TOOLS[name]
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _find_client(context: ServerRequestContext[Any, Any]) -> str:
    """Return what the assistant calls itself: it may be anything."""
    params = context.session.client_params
    if params is not None:
        return str(params.client_info.name)
    return str(context.request.headers.get("user-agent", "")) if context.request else ""


def _list_records(data: Any) -> list[str]:
    """Return the IDs that were asked for and found, in their order, each once."""
    found = dict.fromkeys(_ID.findall(orjson.dumps(data).decode().lower()))
    return list(found)[:_RECORDS_MAX]


def _read_user(arguments: dict[str, Any]) -> UUID | None:
    try:
        return UUID(str(arguments.get("user_id", "")))
    except ValueError:
        return None
