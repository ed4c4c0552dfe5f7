"""How the server behaves; every field may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Options:
    """``Options()`` is the API itself, ``Options.local()`` a small server that speaks its protocol."""

    validate: bool = True
    """Refuse what the API would refuse."""
    strict_alternation: bool = True
    """Refuse two messages of one role in a row.  The API joins them; agentcli must not send them."""
    check_signatures: bool = True
    """Refuse thinking blocks that this server did not sign, or that were altered or moved."""
    prefix_check: bool = True
    """Refuse thinking blocks whose prefix has changed, as the API does by default on models with preserved thinking."""
    window: int | None = None
    """Context window in tokens, in place of the model's own."""
    any_model: bool = False
    """Accept every model id, as a gateway does, instead of answering 404."""
    cache_fields: bool = True
    """``False``: the usage has no cache fields and the cache does nothing, as at many local servers."""
    refused_betas: set[str] = field(default_factory=set)
    """Values of ``anthropic-beta`` that get a 400 naming them."""
    refuse_scope: bool = False
    """``cache_control.scope`` gets a 400 naming it, whatever the headers say."""
    keys: set[str] | None = None
    """The keys that are accepted; ``None`` accepts all but the empty one."""
    torn: int | None = None
    """Streams are written in pieces of so many bytes, wherever that cuts them."""
    server_tools: bool = True
    """``False``: tools that the API runs itself are refused, as by servers that only have the models."""
    missing: set[str] = field(default_factory=set)
    """Paths that answer 404, as at servers without them (``/v1/messages/count_tokens``, ``/v1/models``)."""

    @staticmethod
    def local() -> Options:
        """A local server: takes any field, model, beta and signature, knows no cache and counts no cache tokens."""
        return Options(validate=False, any_model=True, cache_fields=False)
