"""Every event with every kind of answer has the documented effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.extend.hooks import EVENTS
from agentcli.extend.hooks.answers import Said, join, read_answer, read_reply
from agentcli.ports.permissions import HookVerdict, PermissionUpdate
from tests.extend.worlds import bench, saying

BLOCKABLE = {
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "WorktreeCreate",
}
TAKES_TEXT = {"SessionStart", "UserPromptSubmit", "WorktreeCreate"}
ONLY_TOLD = [e for e in EVENTS if e != "WorktreeCreate"]


def verdict(event: str, code: int, output: str = "", errors: str = "") -> HookVerdict:
    return join([read_answer(event, "check", Said(code, output, errors))])


@pytest.mark.parametrize("event", EVENTS)
def test_silence_and_an_empty_object_say_nothing(event: str) -> None:
    assert verdict(event, 0) == HookVerdict()
    assert verdict(event, 0, "{}\n", "a word for the log") == HookVerdict()


def test_nothing_that_a_terminal_obeys_comes_through() -> None:
    odd = "a\0b \x1b[31mred\x1b[0m \x1b]0;title\x07\tend\x9b"
    made = "ab red \tend"
    assert verdict("SessionStart", 0, odd).context == (made,)
    assert verdict("PreToolUse", 2, "", odd).reason == made
    told = json.dumps({"systemMessage": odd, "hookSpecificOutput": {"additionalContext": odd}})
    assert verdict("UserPromptSubmit", 0, told) == HookVerdict(context=(made,), messages=(made,))
    assert verdict("Stop", 0, json.dumps({"decision": "block", "reason": odd})).reason == made
    assert "\x1b" not in str(verdict("PreToolUse", 1, "", odd).messages)


@pytest.mark.parametrize("event", EVENTS)
def test_plain_text_is_context_where_the_event_takes_some(event: str) -> None:
    expected = HookVerdict(context=("Mind the gap",)) if event in TAKES_TEXT else HookVerdict()
    assert verdict(event, 0, "Mind the gap\n") == expected
    broken = HookVerdict(context=('{"continue": fal',)) if event in TAKES_TEXT else HookVerdict()
    assert verdict(event, 0, '{"continue": fal') == broken


@pytest.mark.parametrize("event", EVENTS)
def test_an_answer_behind_other_lines_is_named_where_text_means_nothing(event: str) -> None:
    output = 'checking\n{"decision": "block", "reason": "no"}\n'
    found = verdict(event, 0, output)
    if event in TAKES_TEXT:
        assert found == HookVerdict(context=(output.strip(),))
    else:
        assert found.behavior is None
        assert "counts only as the whole output" in found.messages[0]
    assert verdict(event, 0, '\ufeff{"decision": "block"}') == verdict(event, 0, '{"decision": "block"}')


@pytest.mark.parametrize("event", EVENTS)
def test_exit_code_two_blocks_or_is_shown(event: str) -> None:
    found = verdict(event, 2, errors="not on a Friday\n")
    if event in BLOCKABLE:
        assert found == HookVerdict("deny", "not on a Friday")
    else:
        assert found == HookVerdict(messages=("not on a Friday",))


@pytest.mark.parametrize("event", ONLY_TOLD)
def test_another_exit_code_is_told_and_blocks_nothing(event: str) -> None:
    assert verdict(event, 1, errors="\nTraceback\nmore") == HookVerdict(
        messages=(f"{event} hook `check` failed with exit code 1: Traceback",)
    )
    assert verdict(event, 127) == HookVerdict(messages=(f"{event} hook `check` failed with exit code 127",))


def test_a_hook_that_has_to_make_something_fails_with_any_exit_code() -> None:
    failed = verdict("WorktreeCreate", 1, errors="no space")
    assert failed == HookVerdict("deny", "WorktreeCreate hook `check` failed with exit code 1: no space")
    made = '{"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": "/tmp/w"}}'
    assert verdict("WorktreeCreate", 0, made) == HookVerdict(extra={"worktreePath": "/tmp/w"})
    assert verdict("WorktreeCreate", 1, made).behavior == "deny"


@pytest.mark.parametrize("event", EVENTS)
def test_block_in_json_says_no_where_the_event_can_be_blocked(event: str) -> None:
    found = verdict(event, 0, '{"decision": "block", "reason": "tests are red"}')
    assert found == (HookVerdict("deny", "tests are red") if event in BLOCKABLE else HookVerdict())


@pytest.mark.parametrize("event", ONLY_TOLD)
@pytest.mark.parametrize("code", [0, 1, 3])
def test_common_fields_hold_for_every_event_and_json_decides_alone(event: str, code: int) -> None:
    text = '{"continue": false, "stopReason": "enough", "systemMessage": "Look", "suppressOutput": true}'
    assert verdict(event, code, text) == HookVerdict(stop=True, stop_reason="enough", messages=("Look",))


@pytest.mark.parametrize("event", EVENTS)
def test_additional_context(event: str) -> None:
    text = f'{{"hookSpecificOutput": {{"hookEventName": "{event}", "additionalContext": "The build is red"}}}}'
    assert verdict(event, 0, text) == HookVerdict(context=("The build is red",))


def pre(word: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, **more}}


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (pre("allow"), 0, HookVerdict("allow")),
        (pre("deny", permissionDecisionReason="no"), 0, HookVerdict("deny", "no")),
        (pre("ask", permissionDecisionReason="sure?"), 0, HookVerdict("ask", "sure?")),
        (pre("allow", updatedInput={"command": "ls"}), 0, HookVerdict("allow", updated_input={"command": "ls"})),
        (pre("allow"), 2, HookVerdict("deny", "on stderr")),
        (pre("allow", permissionDecisionReason="why"), 2, HookVerdict("deny", "why")),
        ({"decision": "approve", "reason": "old"}, 0, HookVerdict("allow", "old")),
        (
            pre("defer"),
            0,
            HookVerdict(
                "ask",
                messages=("A PreToolUse hook wants to defer a call, which is not supported: it is asked instead",),
            ),
        ),
    ],
)
async def test_answers_to_a_call(project: Path, value: object, code: int, expected: HookVerdict) -> None:
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"echo on stderr >&2; {saying(value, code)}"}]}]}
    async with bench(project, hooks) as run:
        assert await run.call(command="x") == expected


def test_answers_to_a_permission_question() -> None:
    def answer(decision: object) -> HookVerdict:
        import json

        return verdict("PermissionRequest", 0, json.dumps({"hookSpecificOutput": {"decision": decision}}))

    rules = [{"toolName": "Bash", "ruleContent": "npm test"}, {"toolName": "Read"}]
    update = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
    given = {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [update, {"type": "?"}, 3]}
    assert answer(given) == HookVerdict(
        "allow", updated_input={"a": 1}, updates=(PermissionUpdate("addRules", ("Bash(npm test)", "Read")),)
    )
    denied = {"behavior": "deny", "message": "not here", "interrupt": True, "updatedPermissions": [update]}
    assert answer(denied) == HookVerdict("deny", "not here", interrupt=True)
    modes = [{"type": "setMode", "mode": "plan"}, {"type": "setMode", "mode": "god"}]
    folders = {"type": "addDirectories", "directories": ["/a", 1], "destination": "localSettings"}
    found = answer({"behavior": "allow", "updatedPermissions": [*modes, folders]})
    assert found.updates == (
        PermissionUpdate("setMode", mode="plan"),
        PermissionUpdate("addDirectories", directories=("/a",), destination="localSettings"),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"hookSpecificOutput": {"hookEventName": "Stop"}}', "hookEventName is 'Stop', the event is PreToolUse"),
        ('{"hookSpecificOutput": []}', "hookSpecificOutput must be an object"),
        ('{"continue": "no"}', "continue must be true or false"),
        ('{"systemMessage": 3}', "systemMessage must be a text"),
        ('{"decision": "maybe"}', "decision is 'maybe'; block or nothing"),
        (
            '{"hookSpecificOutput": {"permissionDecision": "block"}}',
            "permissionDecision is 'block'; allow, deny or ask",
        ),
        ('{"hookSpecificOutput": {"updatedInput": "ls"}}', "updatedInput must be an object"),
    ],
)
def test_json_that_does_not_fit_is_told_and_blocks_only_with_exit_code_two(text: str, problem: str) -> None:
    words = f"PreToolUse hook `check` gave an answer that does not fit: {problem}"
    assert verdict("PreToolUse", 0, text) == HookVerdict(messages=(words,))
    assert verdict("PreToolUse", 1, text) == HookVerdict(messages=(words,))
    assert verdict("PreToolUse", 2, text, "no") == HookVerdict("deny", "no")


def test_several_answers_are_one() -> None:
    def said(word: str, reason: str = "", **more: Any) -> Any:
        import json

        return read_answer(
            "PreToolUse", "x", Said(0, json.dumps(pre(word, permissionDecisionReason=reason, **more)), "")
        )

    allow, ask, deny = said("allow", "fine", updatedInput={"a": 1}), said("ask", "sure?"), said("deny", "no")
    assert join([allow, ask]) == HookVerdict("ask", "sure?", updated_input={"a": 1})
    assert join([allow, deny, ask, said("deny", "never"), said("deny", "no")]) == HookVerdict("deny", "no\nnever")
    assert join([allow, said("allow", "", updatedInput={"b": 2})]).updated_input == {"b": 2}
    assert join([]) == HookVerdict()


def test_what_only_some_events_bring_is_handed_on() -> None:
    text = '{"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "Release", "watchPaths": ["a"]}}'
    assert verdict("SessionStart", 0, text).extra == {"sessionTitle": "Release", "watchPaths": ["a"]}


@pytest.mark.parametrize(
    ("event", "reply", "expected"),
    [
        ("Stop", '{"ok": true}', HookVerdict()),
        (
            "Stop",
            'Sure:\n```json\n{"ok": false, "reason": "tests are missing"}\n```',
            HookVerdict("deny", "tests are missing"),
        ),
        (
            "Stop",
            '{"ok": false, "impossible": true, "reason": "no network"}',
            HookVerdict(stop=True, stop_reason="no network"),
        ),
        ("Notification", '{"ok": false, "reason": "loud"}', HookVerdict(messages=("loud",))),
        ("PermissionRequest", '{"ok": false, "reason": "no"}', HookVerdict("deny", "no")),
        ("Stop", "I think so.", HookVerdict(messages=("Stop hook `p` got no usable answer from the model",))),
        ("Stop", '{"ok": "yes"}', HookVerdict(messages=("Stop hook `p` got no usable answer from the model",))),
    ],
)
def test_replies_to_prompt_hooks(event: str, reply: str, expected: HookVerdict) -> None:
    assert join([read_reply(event, "p", reply)]) == expected
