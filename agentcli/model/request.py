"""From our values to the request's JSON, in one place, deterministic to the byte.

The same state gives the same bytes in another process on another day: tools in fixed order (built-in ones as declared,
then those of MCP servers by name, then deferred ones), schemas with sorted keys, no ids, times or counters.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentcli.conversation import SystemPromptBlock
from agentcli.messages import ImageBlock, Message, ToolResultBlock, block_to_api
from agentcli.model.cache import BreakpointPlan, mark, plan_breakpoints
from agentcli.model.catalog import model_info
from agentcli.model.fingerprint import Fingerprint, digest
from agentcli.model.parts import MessageForm, RequestParts, Rules, dumps
from agentcli.model.references import References
from agentcli.model.thinking import cannot_think, foreign_aside, foreign_before, without_foreign_thinking
from agentcli.ports.model import ModelInfo, ModelRequest
from agentcli.text import clean_json

_REMEMBERED_MESSAGES = 8_192


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request ready to be sent, again and again, as the same bytes.

    ``features`` are the optional ones that it uses; ``writes`` the prefixes that the API holds an entry for once the
    answer has begun; ``shared_key`` names the prefix that parallel siblings share.  ``global_scope`` and
    ``mcp_in_front`` are what the system prompt was split by.
    """

    body: dict[str, Any]
    data: bytes
    betas: tuple[str, ...]
    features: frozenset[str]
    info: ModelInfo
    fingerprint: Fingerprint
    plan: BreakpointPlan
    writes: tuple[str, ...]
    shared_key: str
    global_scope: bool
    mcp_in_front: bool

    @property
    def headers(self) -> dict[str, str]:
        return {"anthropic-beta": ",".join(self.betas)} if self.betas else {}


class RequestBuilder:
    """Builds requests; remembers the API form of messages that it has seen, since a step resends all of them."""

    def __init__(self) -> None:
        self._forms: OrderedDict[int, MessageForm] = OrderedDict()
        self._references = References()

    def build(self, request: ModelRequest, rules: Rules, *, previous_id: str | None = None) -> WireRequest:
        """The request's JSON.  Latches what the conversation decides once (ttl, beta headers).

        ``previous_id`` is the id of the conversation's last answer, for the API's own cache diagnosis.
        """
        info = model_info(request.model, provider=rules.provider)
        parts = RequestParts(request, rules, info)
        messages = self._messages(request, parts)
        if cannot_think(parts.thinking, messages):
            parts.leave_out_thinking()
        forms = [self._form(m) for m in messages]
        images = any(f.images for f in forms)
        betas = parts.beta_headers()
        base = digest(
            request.model, *betas, *[p.text for p in parts.tool_pieces], *[b.text for b in parts.system],
            dumps(parts.thinking), str(parts.output.get("effort")), request.tool_choice, str(images),
        )  # fmt: skip
        chain = _chain(base, forms)
        plan = BreakpointPlan()
        if parts.caching:
            plan = plan_breakpoints(
                parts.system,
                messages,
                chain,
                frozenset(request.conversation.written),
                volatile=[p.name for p in request.system.parts if p.policy == "volatile"],
                tools=len(parts.front),
            )
        body = self._body(request, rules, parts, forms, plan, previous_id)
        return WireRequest(
            body=body,
            data=_encode(body),
            betas=betas,
            features=frozenset(parts.features),
            info=info,
            fingerprint=parts.fingerprint(request, betas, forms, images=images, marks=plan.count),
            plan=plan,
            writes=tuple(chain[m][b] for m, b in plan.messages),
            shared_key=_shared_key(base, chain, plan, messages),
            global_scope=parts.global_scope,
            mcp_in_front=parts.mcp_in_front,
        )

    def _messages(self, request: ModelRequest, parts: RequestParts) -> tuple[Message, ...]:
        bound = digest(request.model, *[p.text for p in parts.tool_pieces], *[b.text for b in parts.system])
        count = foreign_aside if request.query_source == "side" else foreign_before
        before = count(request.conversation, bound, len(request.messages))
        messages = without_foreign_thinking(request.messages, before)
        return messages if parts.defers else self._references.as_text(messages, request.tools)

    def _form(self, message: Message) -> MessageForm:
        form = self._forms.get(id(message))
        if form is None or form.message is not message:
            blocks = [block_to_api(b) for b in message.content]
            texts = [dumps(b) for b in blocks]
            form = MessageForm(
                message,
                blocks,
                [digest(message.role, t) for t in texts],
                [len(t.encode("utf-8", "surrogatepass")) for t in texts],
                _has_images(message),
            )
            self._forms[id(message)] = form
            if len(self._forms) > _REMEMBERED_MESSAGES:
                self._forms.popitem(last=False)
        return form

    def _body(
        self,
        request: ModelRequest,
        rules: Rules,
        parts: RequestParts,
        forms: Sequence[MessageForm],
        plan: BreakpointPlan,
        previous_id: str | None,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": request.model, "max_tokens": parts.max_tokens}
        tools = list(parts.front)
        if plan.tool:
            tools[-1] = mark(tools[-1], parts.control(None))
        if tools or parts.deferred:
            body["tools"] = [*tools, *parts.deferred]
            if request.tool_choice == "none":
                body["tool_choice"] = {"type": "none"}
        if parts.system:
            body["system"] = build_system_prompt_blocks(
                parts.system, {i: parts.control(parts.system[i].scope) for i in plan.system}
            )
        body["messages"] = _marked_messages(forms, plan, parts.control(None))
        if parts.thinking is not None:
            body["thinking"] = parts.thinking
        if parts.output:
            body["output_config"] = parts.output
        if "keep_thinking" in parts.features:
            body["context_management"] = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
        if "diagnosis" in parts.features:
            body["diagnostics"] = {"previous_message_id": previous_id}
        body["stream"] = True
        body.update(rules.extra_body or {})
        return body


def build_system_prompt_blocks(
    blocks: Sequence[SystemPromptBlock], controls: Mapping[int, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """The request's ``system`` field: one text block each, marked where ``controls`` has a value for its index."""
    made: list[dict[str, Any]] = [{"type": "text", "text": b.text} for b in blocks]
    return [mark(b, controls[i]) if i in controls else b for i, b in enumerate(made)]


def _marked_messages(
    forms: Sequence[MessageForm], plan: BreakpointPlan, control: Mapping[str, str]
) -> list[dict[str, Any]]:
    messages = []
    for m, form in enumerate(forms):
        marks = {b for position, b in plan.messages if position == m}
        content = [mark(b, control) if i in marks else b for i, b in enumerate(form.blocks)] if marks else form.blocks
        messages.append({"role": form.message.role, "content": content})
    return messages


def _chain(base: str, forms: Sequence[MessageForm]) -> list[list[str]]:
    """For every block the digest of the whole prefix up to it."""
    state, chain = base, []
    for form in forms:
        row = []
        for own in form.digests:
            state = digest(state, own)
            row.append(state)
        chain.append(row)
    return chain


def _shared_key(base: str, chain: Sequence[Sequence[str]], plan: BreakpointPlan, messages: Sequence[Message]) -> str:
    """The prefix that siblings have in common: up to the leading reminders of a first request, else the system."""
    first = not any(m.role == "assistant" for m in messages)
    if first and len(plan.messages) > 1:
        m, b = plan.messages[0]
        return chain[m][b]
    return base


def _has_images(message: Message) -> bool:
    for block in message.content:
        inner = block.content if isinstance(block, ToolResultBlock) else (block,)
        if any(isinstance(b, ImageBlock) for b in inner):
            return True
    return False


def _encode(body: dict[str, Any]) -> bytes:
    """Strict UTF-8.  Text was cleaned where it came in; what slipped through is cleaned here rather than refused."""
    try:
        return dumps(body).encode("utf-8")
    except UnicodeEncodeError:
        body.update(clean_json(body))  # type: ignore[call-overload]  # an object stays an object
        return dumps(body).encode("utf-8")
