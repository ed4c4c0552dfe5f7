"""Lines of standard input as values: prompts, control requests, and answers to our own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentcli.messages import Block, ImageBlock, Json, TextBlock, block_from_api
from agentcli.ports.frontend import UserInput
from agentcli.text import clean_json
from agentcli.ui.headless.reader import LONGEST_INPUT, Overlong


@dataclass(frozen=True, slots=True)
class Prompt:
    """A user message.  ``uuid`` is the client's name for it; ``verbatim`` says that a leading slash is no command;
    ``raw`` is the line, for an echo."""

    input: UserInput
    uuid: str = ""
    verbatim: bool = False
    raw: Json | None = None
    self_started: bool = False
    """Nobody sent it."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that should have been a prompt and can't be one.  It gets a result all the same."""

    problem: str
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class ControlRequest:
    id: str
    subtype: str
    body: Json


@dataclass(frozen=True, slots=True)
class ControlAnswer:
    """The client's answer to a request of ours: ``body``, or why there is none."""

    id: str
    body: Json
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ControlCancel:
    """The client no longer waits for the answer to its request."""

    id: str


@dataclass(frozen=True, slots=True)
class Other:
    """A line that asks for nothing."""

    type: str


InputLine: TypeAlias = Prompt | Unreadable | ControlRequest | ControlAnswer | ControlCancel | Other


def parse_line(line: bytes) -> InputLine:
    """What a line says.  Never raises."""
    if isinstance(line, Overlong):
        return _overlong(line)
    try:
        value = clean_json(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError) as error:
        return Unreadable(f"a line on standard input is not JSON: {error}")
    if not isinstance(value, dict):
        return Unreadable("a line on standard input is not a JSON object")
    match value.get("type"):
        case "user":
            return _prompt(value)
        case "control_request":
            return _request(value)
        case "control_response":
            return _answer(value)
        case "control_cancel_request":
            return ControlCancel(_text(value.get("request_id")))
        case str(kind):
            return Other(kind)
        case _:
            return Unreadable('a line on standard input has no "type"')


_ANSWER = re.compile(rb'"type"\s*:\s*"control_response"')
_ANSWERED = re.compile(rb'"request_id"\s*:\s*"([\w-]+)"')


def _overlong(head: bytes) -> InputLine:
    """An answer that is too long is one all the same: somebody waits for it."""
    problem = f"a line of more than {LONGEST_INPUT:,} bytes on standard input"
    number = _ANSWERED.search(head)
    if number is None or not _ANSWER.search(head):
        return Unreadable(problem)
    return ControlAnswer(number[1].decode(), {}, problem)


def _request(value: Mapping[str, Any]) -> ControlRequest:
    body = value.get("request")
    known = body if isinstance(body, dict) else {}
    return ControlRequest(_text(value.get("request_id")), _text(known.get("subtype")), known)


def _answer(value: Mapping[str, Any]) -> InputLine:
    response = value.get("response")
    if not isinstance(response, dict):
        return Other("control_response")
    body = response.get("response")
    error = _text(response.get("error")) or "unknown error" if response.get("subtype") == "error" else None
    return ControlAnswer(_text(response.get("request_id")), body if isinstance(body, dict) else {}, error)


def _prompt(value: Mapping[str, Any]) -> InputLine:
    uuid = _text(value.get("uuid"))
    message = value.get("message")
    if not isinstance(message, dict) or message.get("role", "user") != "user":
        return Unreadable('a user line needs "message": {"role": "user", "content": …}', uuid)
    found = _input(message.get("content"))
    if isinstance(found, str):
        return Unreadable(found, uuid)
    return Prompt(found, uuid, verbatim=value.get("client_composed") is True, raw=value)


def _input(content: object) -> UserInput | str:
    """The message's blocks, or what is wrong with them."""
    if isinstance(content, str):
        return UserInput(content) if content.strip() else "the user message is empty"
    if not isinstance(content, list):
        return "a user message's content is a text or a list of blocks"
    texts: list[str] = []
    attached: list[Block] = []
    for number, raw in enumerate(content):
        try:
            block = block_from_api(raw, origin="user")
        except (KeyError, TypeError, AttributeError):
            return f"block {number} of the user message can't be read"
        match block:
            case TextBlock(text=text):
                texts.append(text)
            case ImageBlock():
                attached.append(block)
            case _ if raw.get("type") in ("document", "image"):
                attached.append(block)
            case _:
                return f"a user message can't hold a block of type {raw.get('type')!r}"
    made = UserInput("\n".join(texts), tuple(attached))
    return made if made.blocks() else "the user message is empty"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
