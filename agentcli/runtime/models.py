"""Model names and facts as this session sees them: aliases, overrides, the provider's ids, the server's windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentcli.messages import Usage
from agentcli.model.catalog import DEFAULT_MODEL, Provider, model_info, resolve_model
from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection
from agentcli.model.usage import Ledger, category, cost_of
from agentcli.ports.model import ModelClient, ModelInfo, QuerySource
from agentcli.runtime.world import World


@dataclass(frozen=True, slots=True)
class Models:
    world: World
    client: ModelClient

    def resolve(self, name: str) -> str:
        """The exact id behind an alias or id (settings ``modelOverrides`` and the environment count).  ``UserError``
        for a name that can't be one."""
        overrides = self.world.settings.get("modelOverrides")
        return resolve_model(
            name,
            env=self.world.env,
            overrides=overrides if isinstance(overrides, dict) else None,
            provider=self.provider,
        )

    def info(self, model: str) -> ModelInfo:
        """The catalog's word, with what the server said of it."""
        return self.client.info(model) if isinstance(self.client, AnthropicClient) else model_info(model)

    def first(self, named: str | None) -> str:
        """The model that a session begins with: ``named`` (command line or agent), then the environment's, the
        settings', the default."""
        chosen = named or self.world.env.get("ANTHROPIC_MODEL") or self.world.settings.text("model")
        return self.resolve(chosen or DEFAULT_MODEL)

    def broken_off(self, ledger: Ledger, source: QuerySource) -> Callable[[str, Usage], float | None]:
        """Accounts for a request whose answer was interrupted: what had been sent and written by then is paid."""

        def account(model: str, usage: Usage) -> float | None:
            if usage == Usage():
                return 0.0
            cost = cost_of(usage, self.info(model))
            ledger.record(model, category(source), usage, cost=cost)
            return cost

        return account

    @property
    def first_party(self) -> bool:
        """Whether the provider is the Anthropic API itself."""
        connection = self._connection()
        return connection is not None and connection.first_party

    @property
    def provider(self) -> Provider:
        connection = self._connection()
        return connection.provider if connection else "first_party"

    @property
    def refused(self) -> frozenset[str]:
        """Features that the server refused or the environment switched off."""
        return self.client.refused if isinstance(self.client, AnthropicClient) else frozenset()

    def takes_references(self) -> bool:
        """Whether the server takes tool references: the Anthropic API itself, where it has not refused them."""
        return self.first_party and "deferral" not in self.refused

    def _connection(self) -> Connection | None:
        return self.client.connection if isinstance(self.client, AnthropicClient) else None
