"""Signatures of thinking blocks: who thought it, what it says, and what stood in front of it.

A signature is ``model.account.tools.system.before.link.mac``, each a short digest, the last an HMAC over the others and
the block's text.  The secret is the same for every server of this kind, so that a session can go on at another one.

``before`` covers all messages and blocks in front of the block but for thinking; ``link`` is the thinking block before
it: thinking may be taken out from the front, but not from between others.  Marks (``cache_control``) don't count, nor
does empty text (which can't be sent back), nor do deferred tools, which the model has not been shown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import astuple, dataclass
from typing import Any

from tests.api.render import as_blocks, without_marks

Json = dict[str, Any]
SECRET = b"a secret of the test server"
THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Signature:
    model: str
    account: str
    tools: str
    system: str
    before: str
    link: str

    def over(self, block: Json) -> str:
        """The signature string for the block's text."""
        fields = ".".join(astuple(self))
        return f"{fields}.{_mac(fields, block)}"


class Prefix:
    """What stands in front of the next block: grows block by block, and says the signature that belongs there."""

    def __init__(self, request: Json, *, model: str, account: str) -> None:
        tools = [t for t in request.get("tools", []) if not t.get("defer_loading")]
        system = as_blocks(request.get("system") or [])
        self._fixed = (digest(model), digest(account), digest(tools), digest(system))
        self._said = hashlib.sha256()
        self._link = ""

    def add(self, role: str, block: Json) -> None:
        if block["type"] in THINKING:
            self._link = block.get("signature") or block.get("data") or ""
        elif block["type"] != "text" or block["text"]:
            self._said.update(_json([role, block]))

    def signature(self) -> Signature:
        return Signature(*self._fixed, self._said.hexdigest()[:12], digest(self._link))

    @property
    def has_thinking(self) -> bool:
        return bool(self._link)


def read(signature: str, block: Json) -> Signature | None:
    """The signature's fields; ``None`` where it is not ours or the block's text was altered."""
    fields, _, mac = signature.rpartition(".")
    parts = fields.split(".")
    if len(parts) != 6 or not hmac.compare_digest(mac.encode(), _mac(fields, block).encode()):
        return None
    return Signature(*parts)


def digest(value: Any) -> str:
    return hashlib.sha256(_json(value)).hexdigest()[:12]


def _json(value: Any) -> bytes:
    return json.dumps(without_marks(value), separators=(",", ":"), sort_keys=True).encode("ascii")


def _mac(fields: str, block: Json) -> str:
    said = f"{block['type']}:{block.get('thinking', '')}".encode("utf-8", "surrogatepass")
    return hmac.new(SECRET, fields.encode() + b"|" + said, hashlib.sha256).hexdigest()[:32]
