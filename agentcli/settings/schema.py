"""The settings that are known: their types, and in which files they count.

Names and meanings follow the published settings of Claude Code, so that existing files mean the same here.  A known
name says nothing about whether agentcli has the feature; it only keeps a typing error apart from another tool's key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentcli.text import did_you_mean

Kind = Literal["bool", "string", "number", "list", "strings", "object", "any"]
Where = Literal["any", "user", "private", "managed"]
"""``any`` file; ``user``: user, command line or managed; ``private``: those and local; ``managed`` only."""


@dataclass(frozen=True, slots=True)
class Key:
    kind: Kind
    where: Where = "any"
    values: tuple[str, ...] = ()


def _many(kind: Kind, names: str, where: Where = "any") -> dict[str, Key]:
    return {name: Key(kind, where) for name in names.split()}


MODES = ("default", "manual", "acceptEdits", "plan", "dontAsk", "bypassPermissions")

KEYS: dict[str, Key] = (
    _many(
        "bool",
        "alwaysThinkingEnabled autoCompactEnabled autoMemoryEnabled autoScrollEnabled axScreenReader "
        "disableAgentView disableAllHooks disableArtifact disableBundledSkills disableDeepLinkRegistration "
        "disableSkillShellExecution disableWorkflows emojiCompletionEnabled enableAllProjectMcpServers "
        "enableWorkflows fastMode fastModePerSessionOptIn fileCheckpointingEnabled includeCoAuthoredBy "
        "includeGitInstructions inputNeededNotifEnabled agentPushNotifEnabled awaySummaryEnabled "
        "isolatePeerMachines prefersReducedMotion promptSuggestionEnabled respectGitignore respondToBashCommands "
        "showClearContextOnPlanAccept showThinkingSummaries showTurnDuration skipWebFetchPreflight "
        "spinnerTipsEnabled switchModelsOnFlag syntaxHighlightingDisabled terminalProgressBarEnabled "
        "terminalTitleFromRename ultracode verbose voiceEnabled wheelScrollAccelerationEnabled "
        "workflowKeywordTriggerEnabled disableRemoteControl remoteControlAtStartup disableClaudeAiConnectors",
    )
    | _many(
        "string",
        "advisorModel agent apiKeyHelper autoMemoryDirectory autoUpdatesChannel awsAuthRefresh "
        "awsCredentialExport crossSessionInbound defaultShell disableAutoMode editorMode effortLevel "
        "forceLoginMethod forceLoginOrgUUID gcpAuthRefresh language minimumVersion model otelHeadersHelper "
        "outputStyle plansDirectory preferredNotifChannel prUrlTemplate teammateMode theme tui viewMode "
        "workflowSizeGuideline keybindingFlavor",
    )
    | _many("string", "askUserQuestionTimeout dialogExpiry processWrapper", "user")
    | _many(
        "number",
        "autoCompactWindow cleanupPeriodDays feedbackSurveyRate skillListingBudgetFraction skillListingMaxDescChars",
    )
    | _many(
        "list",
        "allowedHttpHookUrls allowedMcpServers availableModels claudeMdExcludes companyAnnouncements "
        "deniedMcpServers disabledMcpjsonServers enabledMcpjsonServers fallbackModel httpHookAllowedEnvVars sshConfigs",
    )
    | _many(
        "object",
        "attribution enabledPlugins env extraKnownMarketplaces features fileSuggestion hooks mcpServers modelOverrides "
        "permissions remote sandbox skillOverrides spinnerTipsOverride spinnerVerbs statusLine subagentStatusLine "
        "voice worktree",
    )
    | _many("object", "autoMode pluginConfigs spellcheck vimInsertModeRemaps", "user")
    | _many("bool", "enableArtifact skipAutoPermissionPrompt", "user")
    | _many("bool", "skipDangerousModePermissionPrompt syncClaudeAiSkills useAutoModeDuringPlan", "private")
    | _many("list", "footerLinksRegexes", "user")
    | _many(
        "bool",
        "allowAllClaudeAiMcps allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly "
        "channelsEnabled disableCommandPluginSources disableMobileSimulatorTools disableBrowserExternalNavigation "
        "disableSideloadFlags enforceAvailableModels forceRemoteSettingsRefresh wslInheritsWindowsSettings",
        "managed",
    )
    | _many(
        "string",
        "browserExternalPageTools claudeMd forceLoginGatewayUrl parentSettingsBehavior pluginTrustMessage "
        "requiredMaximumVersion requiredMinimumVersion",
        "managed",
    )
    | _many(
        "list",
        "allowedChannelPlugins blockedMarketplaces pluginSuggestionMarketplaces sshHostAllowlist "
        "strictKnownMarketplaces",
        "managed",
    )
    | _many("any", "policyHelper strictPluginOnlyCustomization", "managed")
    | _many("object", "agentBudget proactive")
    | _many("bool", "mcpInstructionsDelta promptCachePrewarm scratchpad toolResultClearing")
    | _many("string", "anthropicVersion authHeader promptCacheLayout promptCacheTtl uiLanguage")
    | {"$schema": Key("string"), "enforceAvailableModels": Key("bool"), "agentsMd": Key("any")}
)
"""The last lines but one are agentcli's own."""

PERMISSION_KEYS: dict[str, Key] = {
    "allow": Key("strings"),
    "ask": Key("strings"),
    "deny": Key("strings"),
    "additionalDirectories": Key("strings"),
    "defaultMode": Key("string", values=(*MODES, "auto")),
    "disableBypassPermissionsMode": Key("string"),
    "disableAutoMode": Key("string"),
}

PROTECTIVE = frozenset({"deny", "ask"})
"""Lists that guard: unreadable, they must never count as empty."""


def fits(value: Any, key: Key) -> bool:
    """Whether a value has the key's type (list members are looked at where they are used)."""
    match key.kind:
        case "bool":
            ok = isinstance(value, bool)
        case "string":
            ok = isinstance(value, str)
        case "number":
            ok = isinstance(value, int | float) and not isinstance(value, bool)
        case "list" | "strings":
            ok = isinstance(value, list)
        case "object":
            ok = isinstance(value, dict)
        case "any":
            ok = True
    return ok and (not key.values or value in key.values)


def describe(key: Key) -> str:
    """What the key wants, in words."""
    if key.values:
        return "one of " + ", ".join(key.values)
    words = {"bool": "true or false", "string": "a text", "number": "a number", "object": "an object ({...})"}
    return words.get(key.kind, "a list ([...])")


def wrong_value(key: str, value: Any) -> str:
    """Why a value can't be set under a dotted key; empty when it can, or when nothing is known about the key."""
    top, _, rest = key.partition(".")
    known = PERMISSION_KEYS.get(rest) if top == "permissions" and rest else KEYS.get(key)
    if known is None or fits(value, known):
        return ""
    return f"{key} must be {describe(known)}"


def unknown_key(key: str) -> str:
    """Why a dotted key would have no effect, with the nearest one that is known; empty for one that has."""
    top, _, rest = key.partition(".")
    if top not in KEYS:
        return f"there is no setting {top}{did_you_mean(top, KEYS)}"
    inner = rest.partition(".")[0]
    if top == "permissions" and rest and inner not in PERMISSION_KEYS:
        return f"there is no setting permissions.{inner}{did_you_mean(inner, PERMISSION_KEYS)}"
    if rest and KEYS[top].kind not in {"object", "any"}:
        return f"{top} holds {describe(KEYS[top])}: there is no setting {key}"
    return ""
