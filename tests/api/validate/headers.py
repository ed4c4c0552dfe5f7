"""Key, version and betas."""

from __future__ import annotations

from tests.api.errors import Refusal
from tests.api.options import Options
from tests.api.recorder import Request

VERSIONS = ("2023-06-01", "2026-10-21")
BETAS = frozenset(
    (
        "advisor-tool-2026-03-01",
        "agent-memory-2026-07-22",
        "cache-diagnosis-2026-04-07",
        "code-execution-2025-05-22",
        "compact-2026-01-12",
        "compact-2026-09-04",
        "computer-use-2024-10-22",
        "computer-use-2025-01-24",
        "computer-use-2025-11-24",
        "context-1m-2025-08-07",
        "context-management-2025-06-27",
        "dev-full-thinking-2025-05-14",
        "extended-cache-ttl-2025-04-11",
        "fallback-credit-2026-06-01",
        "fallback-credit-2026-07-01",
        "fast-mode-2026-02-01",
        "files-api-2025-04-14",
        "fine-grained-tool-streaming-2025-05-14",
        "inline-tools-2026-09-15",
        "interleaved-thinking-2025-05-14",
        "mcp-client-2025-04-04",
        "mcp-client-2025-11-20",
        "mcp-client-2026-09-15",
        "message-batches-2024-09-24",
        "message-threads-2026-08-12",
        "mid-conversation-output-config-2026-07-01",
        "mid-conversation-system-clear-at-2026-08-21",
        "mid-conversation-tool-changes-2026-07-01",
        "model-context-window-exceeded-2025-08-26",
        "output-128k-2025-02-19",
        "output-300k-2026-03-24",
        "pdfs-2024-09-25",
        "prompt-caching-2024-07-31",
        "prompt-caching-scope-2026-01-05",
        "server-side-fallback-2026-06-01",
        "server-side-fallback-2026-07-01",
        "skills-2025-10-02",
        "structured-outputs-2025-11-13",
        "task-budgets-2026-03-13",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "thinking-token-count-2026-05-13",
        "token-counting-2024-11-01",
        "token-efficient-tools-2025-02-19",
        "user-profiles-2026-03-24",
        "user-profiles-2026-08-18",
        "user-profiles-2026-09-04",
        "user-profiles-billing-2026-10-01",
    )
)
"""Values of ``anthropic-beta`` that concern the Messages API; any other is refused."""


def check_headers(request: Request, options: Options) -> None:
    """401 for a missing or wrong key, 400 for versions and betas."""
    key = request.key
    if not key:
        raise Refusal(401, "x-api-key header is required")
    if options.keys is not None and key not in options.keys:
        raise Refusal(401, "invalid x-api-key")
    if not options.validate:
        return
    if not request.version:
        raise Refusal(400, "anthropic-version: header is required")
    if request.version not in VERSIONS:
        raise Refusal(400, f'anthropic-version: "{request.version}" is not a valid version')
    for beta in request.betas:
        if beta not in BETAS or beta in options.refused_betas:
            raise Refusal(
                400,
                f"Unexpected value(s) `{beta}` for the `anthropic-beta` header. "
                "Please consult the documentation or try again without the header.",
            )
    if request.method == "POST" and "json" not in request.headers.get("content-type", ""):
        raise Refusal(400, "content-type: must be application/json")
