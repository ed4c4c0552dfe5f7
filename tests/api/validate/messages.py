"""Messages as a conversation: roles, and calls with their results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.api.errors import bad
from tests.api.models import Model
from tests.api.render import as_blocks
from tests.api.validate.content import Context, check_block
from tests.api.validate.shape import Field, Shape, check, may, need

Json = dict[str, Any]
Placed = tuple[str, Json]
"""A block with its path."""
MESSAGE: Shape = {"role": need("string", "user", "assistant", "system"), "content": Field("string|list", required=True)}
SYSTEM_MESSAGE: Shape = {
    **MESSAGE,
    "clear_at": may("string", "next_user_message", "never", betas=("mid-conversation-system-clear-at-2026-08-21",)),
    "output_config": may("object", betas=("mid-conversation-output-config-2026-07-01",)),
}
MAX_MESSAGES = 100_000


def check_messages(messages: list[Any], ctx: Context) -> None:
    """Shape of each message and block."""
    if not messages:
        raise bad("messages", "at least one message is required")
    if len(messages) > MAX_MESSAGES:
        raise bad("messages", f"at most {MAX_MESSAGES} messages are permitted")
    for i, message in enumerate(messages):
        path = f"messages.{i}"
        system = isinstance(message, dict) and message.get("role") == "system"
        check(path, message, SYSTEM_MESSAGE if system else MESSAGE, ctx.betas)
        content = message["content"]
        if not content:
            raise bad(path, "all messages must have non-empty content")
        for j, block in enumerate(as_blocks(content)):
            check_block(f"{path}.content.{j}", block, message["role"], ctx)


def check_roles(messages: list[Json], model: Model, *, strict: bool) -> None:
    """The first message is the user's; roles alternate (``strict``); the last is no prefill."""
    if messages[0]["role"] != "user":
        raise bad("messages", 'first message must use the "user" role')
    speaking = [m["role"] for m in messages if m["role"] != "system"]
    if strict:
        for i, (before, role) in enumerate(pairwise(speaking)):
            if before == role:
                raise bad("messages", f'roles must alternate between "user" and "assistant": two {role} at {i}')
    if speaking[-1] == "assistant" and not model.prefill:
        last = as_blocks(messages[-1]["content"])[-1]
        if last["type"] != "server_tool_use" and not last["type"].endswith("_tool_result"):
            raise bad(
                "",
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            )


def check_pairs(messages: list[Json]) -> None:
    """Each call has its one result in the next message, in front of everything else."""
    seen: set[str] = set()
    open_calls: list[str] = []
    at = ""
    for role, blocks in _turns(messages):
        if role == "assistant":
            _require_none(open_calls, at)
            open_calls = [b["id"] for _, b in blocks if b["type"] == "tool_use"]
            at = blocks[0][0].rsplit(".content", 1)[0]
            for path, block in blocks:
                if block["type"] in ("tool_use", "server_tool_use"):
                    if block["id"] in seen:
                        raise bad(f"{path}", "`tool_use` ids must be unique")
                    seen.add(block["id"])
            _check_server_results(blocks)
        else:
            _check_results(blocks, open_calls, at)
            open_calls = []
    _require_none(open_calls, at)


def _turns(messages: list[Json]) -> Iterator[tuple[str, list[Placed]]]:
    """Messages with their paths; messages of one role in a row are one, as for the API."""
    role = ""
    blocks: list[Placed] = []
    for i, message in enumerate(messages):
        if message["role"] != role and blocks:
            yield role, blocks
            blocks = []
        role = message["role"]
        blocks = blocks + [(f"messages.{i}.content.{j}", b) for j, b in enumerate(as_blocks(message["content"]))]
    yield role, blocks


def _check_results(blocks: list[Placed], calls: list[str], at: str) -> None:
    answered: list[str] = []
    other = ""
    for path, block in blocks:
        if block["type"] != "tool_result":
            other = other or path
            continue
        name = block["tool_use_id"]
        if name in answered:
            raise bad(
                path, f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {name}"
            )
        if name not in calls:
            raise bad(
                path,
                f"unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each `tool_result` block must have "
                "a corresponding `tool_use` block in the previous message.",
            )
        if other:
            raise bad(path, "`tool_result` blocks must come first in the message, before any other content")
        answered.append(name)
    _require_none([c for c in calls if c not in answered], at)


def _require_none(calls: list[str], at: str) -> None:
    if calls:
        raise bad(
            at,
            f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(calls)}. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message.",
        )


def _check_server_results(blocks: list[Placed]) -> None:
    """Results of server tools stand behind their call, in the same message."""
    called: set[str] = set()
    for path, block in blocks:
        if block["type"] in ("server_tool_use", "mcp_tool_use"):
            called.add(block["id"])
        elif block["type"].endswith("_tool_result") and block["tool_use_id"] not in called:
            raise bad(path, f"`{block['type']}` without its call: {block['tool_use_id']}")
