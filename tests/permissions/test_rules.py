from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.permissions.policy import domain_matches
from agentcli.permissions.rules import Rule, parse_rule, parse_rules
from agentcli.permissions.shellpatterns import command_form, compile_pattern, matches
from agentcli.ports.permissions import Behavior
from agentcli.ports.toolnames import server_part, server_parts, tool_name
from agentcli.ports.tools import ToolCall
from agentcli.shell import word
from tests.permissions.conftest import GateMaker


@pytest.mark.parametrize(
    ("text", "kind", "tool", "pattern"),
    [
        ("Bash", "bare", "Bash", ""),
        ("Bash(*)", "bare", "Bash", ""),
        (" Bash(npm run build) ", "shell", "Bash", "npm run build"),
        ("Bash(git commit -m 'a (b) c')", "shell", "Bash", "git commit -m 'a (b) c'"),
        ("Bash(npm run test:*)", "shell", "Bash", "npm run test:*"),
        ("Read(~/.ssh/**)", "path", "Read", "~/.ssh/**"),
        ("Edit(/src/**/*.ts)", "path", "Edit", "/src/**/*.ts"),
        ("WebFetch(domain:Docs.Python.org)", "domain", "WebFetch", "docs.python.org"),
        ("mcp__alpha", "mcp", "mcp__alpha", ""),
        ("mcp__alpha__*", "mcp", "mcp__alpha__*", ""),
        ("mcp__my server.x__get-it", "mcp", "mcp__my_server_x__get-it", ""),
        ("mcp__my  server!__get.it", "mcp", "mcp__my_server__get_it", ""),
        ("Agent(Explore)", "name", "Agent", "Explore"),
        ("Task(Explore)", "name", "Agent", "Explore"),
        ("Skill(deploy *)", "name", "Skill", "deploy *"),
        ("WebSearch", "bare", "WebSearch", ""),
    ],
)
def test_good_rules(text: str, kind: str, tool: str, pattern: str) -> None:
    found = parse_rule(text, "allow", "here")
    assert found == Rule("allow", kind, tool, pattern, text, "here", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "behavior", "wrong"),
    [
        ("", "deny", "empty"),
        ("Bash(((", "allow", "Tool or Tool(specifier)"),
        ("Bash(ls", "deny", "Tool or Tool(specifier)"),
        ("Bash()", "deny", "nothing between"),
        ("Nope(x)", "allow", "no tool Nope"),
        ("bash(ls)", "allow", "no tool bash"),
        ("mcp__*", "allow", "must name the server"),
        ("mcp__a*__get", "allow", "must name the server"),
        ("*", "allow", "can only deny or ask"),
        ("Write(src/**)", "allow", "ruled by Edit(path)"),
        ("Glob(src/**)", "deny", "ruled by Read(path)"),
        ("WebFetch(https://x.test)", "allow", "domain:host"),
        ("WebSearch(cats)", "allow", "takes no specifier; write WebSearch alone"),
        ("WebSearch(domain:a.test)", "deny", "takes no specifier; write WebSearch alone"),
        ("mcp__a__b(path:*)", "allow", "can only deny or ask"),
        ("mcp__a__b(x)", "deny", "(field:value) or nothing"),
        ("Bash(run_in_background:true)", "allow", "can only deny or ask"),
    ],
)
def test_bad_rules_say_what_is_wrong(text: str, behavior: Behavior, wrong: str) -> None:
    found = parse_rule(text, behavior)
    assert isinstance(found, str)
    assert wrong in found


def test_each_bad_rule_is_named_and_the_others_stay() -> None:
    rules, warnings = parse_rules(
        [("Bash(ls:*)", "allow", "user settings", None), ("Nope(x)", "deny", "user settings", None)]
    )
    assert [r.text for r in rules] == ["Bash(ls:*)"]
    assert warnings == ("user settings: the deny rule 'Nope(x)' is ignored: there is no tool Nope",)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("ls:*", ["ls", "ls -la"], ["lsof", "ls-la"]),
        ("ls *", ["ls", "ls -la"], ["lsof"]),
        ("ls*", ["ls", "lsof", "ls -la"], ["als"]),
        ("npm run build", ["npm run build"], ["npm run build x", "npm run"]),
        ("git * main", ["git checkout main", "git merge a b main"], ["git main", "git checkout mainly"]),
        ("* --version", ["node --version"], ["node --version x"]),
        ("echo \\*", ["echo *"], ["echo x"]),
        ("a:b:*", ["a:b", "a:b c"], ["a", "a:bc"]),
        (":*", ["", "x y"], []),
    ],
)
def test_command_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    compiled = compile_pattern(pattern)
    for text in yes + no:
        tokens = command_form(tuple(word(w) for w in text.split(" ")))
        assert matches(compiled, tokens) == (text in yes), text


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("docs.python.org", "docs.python.org", True),
        ("docs.python.org", "evil-docs.python.org", False),
        ("docs.python.org", "docs.python.org.evil.test", False),
        ("*.python.org", "docs.python.org", True),
        ("*.python.org", "a.b.python.org", True),
        ("*.python.org", "python.org", False),
        ("*.python.org", "evilpython.org", False),
        ("example.*", "example.com", True),
        ("example.*", "example.evil.com", False),
        ("a*.test", "abc.test", True),
        ("a*.test", "a.b.test", False),
        ("*", "anything.test", True),
    ],
)
def test_domain_patterns(pattern: str, host: str, expected: bool) -> None:
    assert domain_matches(pattern, host) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.test/x", "allow"),
        ("https://DOCS.test:8443/x", "allow"),
        ("https://docs.test./x", "allow"),
        ("https://docs.test@evil.test/x", "ask"),
        ("https://evil.test/docs.test", "ask"),
        ("https://bad.docs.test/", "deny"),
        ("https://look.test/", "ask"),
        ("not a url", "ask"),
        ("", "ask"),
        (7, "ask"),
    ],
)
def test_fetching(gate: GateMaker, url: object, expected: str) -> None:
    made = gate(
        allow=["WebFetch(domain:docs.test)", "WebFetch(domain:*.docs.test)"],
        ask=["WebFetch(domain:look.test)"],
        deny=["WebFetch(domain:bad.docs.test)"],
    )
    assert made.check(ToolCall("t", "WebFetch", {"url": url})).behavior == expected


@pytest.mark.parametrize("wide", ["WebFetch", "WebFetch(domain:*)"])
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.test/x", "allow"),
        ("http://localhost:8000/", "ask"),
        ("http://127.0.0.1/", "ask"),
        ("http://2130706433/", "ask"),
        ("http://0x7f.1/", "ask"),
        ("http://[::ffff:10.0.0.1]/", "ask"),
        ("http://169.254.169.254/latest/meta-data", "ask"),
        ("http://metadata.google.internal/", "ask"),
        ("http://[fd00::1]/", "ask"),
        ("http://192.168.7.7/", "allow"),
    ],
)
def test_who_allows_the_web_has_not_allowed_his_own_network(
    gate: GateMaker, wide: str, url: str, expected: str
) -> None:
    made = gate(allow=[wide, "WebFetch(domain:192.168.7.7)"])
    decision = made.check(ToolCall("t", "WebFetch", {"url": url}))
    assert decision.behavior == expected
    if expected == "ask":
        assert "no rule names it" in decision.reason


@pytest.mark.parametrize(
    "url", ["https://ｂａｄ.test/", "https://bad。test/", "https://BAD.test./", "https://b\u00adad.test/"]
)
def test_a_host_written_in_another_way_is_the_same_host(gate: GateMaker, url: str) -> None:
    made = gate(allow=["WebFetch"], deny=["WebFetch(domain:bad.test)"])
    assert made.check(ToolCall("t", "WebFetch", {"url": url})).behavior == "deny"


def test_rules_may_name_hosts_in_their_own_script(gate: GateMaker) -> None:
    made = gate(allow=["WebFetch(domain:*.한국.kr)"])
    assert made.check(ToolCall("t", "WebFetch", {"url": "https://www.한국.kr/"})).behavior == "allow"
    assert made.check(ToolCall("t", "WebFetch", {"url": "https://www.xn--3e0b707e.kr/"})).behavior == "allow"


def test_fetching_suggests_the_host(gate: GateMaker) -> None:
    decision = gate().check(ToolCall("t", "WebFetch", {"url": "https://a.test/b?c"}))
    assert [u.rules for u in decision.suggestions] == [("WebFetch(domain:a.test)",)]


MCP = {
    "allow": ["mcp__alpha__*", "mcp__beta", "mcp__gam-ma__get*"],
    "deny": ["mcp__alpha__drop"],
    "ask": ["mcp__beta__write"],
}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("mcp__alpha__read", "allow"),
        ("mcp__beta__read", "allow"),
        ("mcp__gam-ma__get_a", "allow"),
        ("mcp__gam-ma__getB", "allow"),
        ("mcp__alpha__drop", "deny"),
        ("mcp__beta__write", "ask"),
        ("mcp__gam-ma__set_a", "ask"),
        ("mcp__alphabet__read", "ask"),
        ("mcp__betamax__read", "ask"),
    ],
)
def test_mcp_rules_cover_their_server_and_no_other(gate: GateMaker, tool: str, expected: str) -> None:
    assert gate(**MCP).check(ToolCall("t", tool, {})).behavior == expected


LONG = "create_the_issue_with_all_of_its_fields_and_their_many_options"


@pytest.mark.parametrize("server", ["tracker", "issue tracker.v2", "the-issue-tracker-of-the-whole-large-company"])
@pytest.mark.parametrize("behavior", ["allow", "ask", "deny"])
def test_rules_hold_for_names_that_are_too_long_or_odd(gate: GateMaker, server: str, behavior: str) -> None:
    part = server_parts([server])[server]
    name = tool_name(server, LONG, part=part)
    call = ToolCall("t", name, {})
    assert gate(**{behavior: [f"mcp__{server}__{LONG}"]}).check(call).behavior == behavior
    assert gate(**{behavior: [f"mcp__{server}"]}).check(call).behavior == behavior
    assert gate(**{behavior: [name]}).check(call).behavior == behavior
    if behavior != "allow":
        shown = server_part(server)
        assert gate(**{behavior: [f"mcp__{shown}__{LONG}"]}, mode="bypassPermissions").check(call).behavior == behavior


def test_servers_whose_names_look_alike_are_told_apart(gate: GateMaker) -> None:
    parts = server_parts(["a b", "a.b"])
    names = {n: tool_name(n, "read", part=part) for n, part in parts.items()}
    assert len(set(names.values())) == 2

    def found(rule: str, behavior: str) -> dict[str, str]:
        made = gate(**{behavior: [rule]})
        made.servers = tuple(parts)
        return {n: made.check(ToolCall("t", name, {"x": "y"})).behavior for n, name in names.items()}

    for tool in ("", "__read"):
        assert found(f"mcp__a b{tool}", "allow") == {"a b": "allow", "a.b": "ask"}
        assert found(f"mcp__a.b{tool}", "allow") == {"a b": "ask", "a.b": "allow"}
        assert found(f"mcp__a-b{tool}", "allow") == {"a b": "ask", "a.b": "ask"}
        assert found(f"mcp__a:b{tool}", "allow") == {"a b": "ask", "a.b": "ask"}
        for written in ("a b", "a.b", "a_b"):
            assert found(f"mcp__{written}{tool}", "deny") == {"a b": "deny", "a.b": "deny"}
    assert found("mcp__a.b__read(x:y)", "deny") == {"a b": "deny", "a.b": "deny"}
    made = gate(deny=["mcp__a b"])
    made.servers = tuple(parts)
    assert made.hidden_tools(names.values()) == set(names.values())


def test_an_allow_rule_for_every_server_is_refused_with_a_warning(gate: GateMaker) -> None:
    made = gate(allow=["mcp__*"])
    assert made.check(ToolCall("t", "mcp__alpha__read", {})).behavior == "ask"
    assert len(made.warnings) == 1
    assert "'mcp__*'" in made.warnings[0]
    assert "command line" in made.warnings[0]


def test_globs_of_tool_names_deny(gate: GateMaker) -> None:
    made = gate(deny=["mcp__*"], allow=["mcp__alpha"])
    assert made.check(ToolCall("t", "mcp__alpha__read", {})).behavior == "deny"
    assert made.hidden_tools(["mcp__alpha__read", "Read"]) == {"mcp__alpha__read"}


def test_whole_tools_can_be_denied(gate: GateMaker) -> None:
    made = gate(deny=["Bash", "WebSearch"], allow=["Bash(ls:*)"])
    assert made.check(ToolCall("t", "Bash", {"command": "ls"})).behavior == "deny"
    assert made.hidden_tools(["Bash", "Read", "WebSearch"]) == {"Bash", "WebSearch"}
    assert gate(deny=["Bash(rm:*)"]).hidden_tools(["Bash"]) == frozenset()


def test_inputs_can_be_denied(gate: GateMaker) -> None:
    made = gate(
        allow=["Bash", "mcp__db"],
        deny=["Bash(run_in_background:true)", "mcp__db__query(mode:w*)", "Agent(model:opus*)"],
    )
    assert made.check(ToolCall("t", "Bash", {"command": "ls", "run_in_background": True})).behavior == "deny"
    assert made.check(ToolCall("t", "Bash", {"command": "ls", "run_in_background": False})).behavior == "allow"
    assert made.check(ToolCall("t", "mcp__db__query", {"mode": "write"})).behavior == "deny"
    assert made.check(ToolCall("t", "mcp__db__query", {"mode": "read"})).behavior == "allow"
    assert made.check(ToolCall("t", "Agent", {"model": "opus-x"})).behavior == "deny"


def test_agents_and_skills_by_name(gate: GateMaker) -> None:
    made = gate(allow=["Skill(deploy *)", "Skill(lint)"], deny=["Agent(my-agent)", "Skill(wipe)"])
    assert made.check(ToolCall("t", "Agent", {"subagent_type": "my-agent"})).behavior == "deny"
    assert made.check(ToolCall("t", "Task", {"subagent_type": "my-agent"})).behavior == "deny"
    assert made.check(ToolCall("t", "Agent", {"subagent_type": "other"})).behavior == "allow"
    assert made.check(ToolCall("t", "Skill", {"skill": "deploy prod"})).behavior == "allow"
    assert made.check(ToolCall("t", "Skill", {"skill": "lint"})).behavior == "allow"
    assert made.check(ToolCall("t", "Skill", {"skill": "lint x"})).behavior == "ask"
    assert made.check(ToolCall("t", "Skill", {"skill": "/wipe"})).behavior == "deny"


def test_rules_of_a_settings_file_carry_its_directory() -> None:
    rules, _ = parse_rules([("Edit(/src/**)", "allow", "project settings", Path("/p"))])
    assert rules[0].base == Path("/p")
    assert rules[0].label == "allow Edit(/src/**) (project settings)"
