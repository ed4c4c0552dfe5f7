"""Which server and which key."""

from __future__ import annotations

import importlib.util

import pytest

from agentcli.errors import ApiError, SetupError
from agentcli.model.connection import Connection, connect, with_helper_key
from tests.api import ApiServer
from tests.model.conftest import MakeClient
from tests.model.worlds import LATE, READ, ask, collect

KEY = {"ANTHROPIC_API_KEY": "sk-1"}


async def helper(command: str) -> str:
    return {"print-key": "sk-helper\n", "print-nothing": " \n"}[command]


@pytest.mark.parametrize(
    ("settings", "env", "expected"),
    [
        ({}, KEY, Connection("first_party", api_key="sk-1", key_source="ANTHROPIC_API_KEY")),
        (
            {},
            {"ANTHROPIC_AUTH_TOKEN": "tok"},
            Connection("first_party", auth_token="tok", key_source="ANTHROPIC_AUTH_TOKEN"),
        ),
        (
            {"apiKeyHelper": "print-key"},
            KEY,
            Connection("first_party", api_key="sk-helper", key_source="apiKeyHelper", helper="print-key"),
        ),
        ({}, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080/"}, Connection("gateway", "http://127.0.0.1:8080")),
        (
            {"anthropicVersion": "2023-06-01", "authHeader": "bearer"},
            {"ANTHROPIC_BASE_URL": "https://gw.test/anthropic/v1/messages", **KEY},
            Connection(
                "gateway", "https://gw.test/anthropic", "sk-1", None, "bearer", "2023-06-01",
                key_source="ANTHROPIC_API_KEY",
            ),
        ),
        (
            {},
            {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "AGENTCLI_FIRST_PARTY_GATEWAY": "1", **KEY},
            Connection("first_party", "http://127.0.0.1:9", "sk-1", key_source="ANTHROPIC_API_KEY"),
        ),
        (
            {},
            {"ANTHROPIC_BASE_URL": "https://api.anthropic.com", **KEY},
            Connection("first_party", api_key="sk-1", key_source="ANTHROPIC_API_KEY"),
        ),
        (
            {},
            {"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\nAuthorization: Bearer z\n"},
            Connection(
                "first_party",
                headers=(("X-Team", "a"), ("Authorization", "Bearer z")),
                key_source="ANTHROPIC_CUSTOM_HEADERS",
            ),
        ),
        ({}, {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "x"}, Connection("bedrock", "", key_source="AWS")),
        (
            {},
            {"CLAUDE_CODE_USE_VERTEX": "true", "ANTHROPIC_VERTEX_PROJECT_ID": "p"},
            Connection("vertex", "", key_source="Google Cloud"),
        ),
        (
            {},
            {"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_RESOURCE": "r", "ANTHROPIC_FOUNDRY_API_KEY": "k"},
            Connection("foundry", "", "k", key_source="Foundry"),
        ),
    ],
)  # fmt: skip
async def test_connections(settings, env, expected) -> None:
    assert await connect(settings, env, run_helper=helper) == expected


@pytest.mark.parametrize(
    ("settings", "env", "words"),
    [
        ({}, {}, "agentcli demo"),
        ({}, {"ANTHROPIC_BASE_URL": "localhost:8080", **KEY}, "ANTHROPIC_BASE_URL is not a web address"),
        ({}, {"ANTHROPIC_BASE_URL": "http://", **KEY}, "agentcli demo"),
        ({}, {"ANTHROPIC_BASE_URL": "http://a:99999", **KEY}, "not a web address"),
        ({}, {"ANTHROPIC_API_KEY": "sk one"}, "ANTHROPIC_API_KEY holds blanks"),
        ({}, {"ANTHROPIC_API_KEY": "sk-“1”"}, "non-ASCII"),
        ({"apiKeyHelper": "print-nothing"}, {}, "apiKeyHelper printed nothing"),
        ({"authHeader": "cookie"}, KEY, "must be one of x-api-key, bearer"),
        ({"anthropicVersion": 3}, KEY, "must be a text"),
        ({}, {"ANTHROPIC_CUSTOM_HEADERS": "nonsense", **KEY}, "not a header"),
        ({}, {"CLAUDE_CODE_USE_BEDROCK": "1"}, "AWS_REGION"),
        ({}, {"CLAUDE_CODE_USE_VERTEX": "1"}, "ANTHROPIC_VERTEX_PROJECT_ID"),
        ({}, {"CLAUDE_CODE_USE_FOUNDRY": "1"}, "ANTHROPIC_FOUNDRY_RESOURCE"),
    ],
)
async def test_what_cannot_work_is_said_in_a_few_lines(settings, env, words) -> None:
    with pytest.raises(SetupError, match=words) as caught:
        await connect(settings, env, run_helper=helper)
    assert str(caught.value).count("\n") < 6


async def test_the_helper_is_asked_anew() -> None:
    stale = Connection("first_party", api_key="old", key_source="apiKeyHelper", helper="print-key")
    assert (await with_helper_key(stale, helper)).api_key == "sk-helper"


def test_a_connection_shows_no_key() -> None:
    link = Connection("first_party", api_key="sk-secret", key_source="ANTHROPIC_API_KEY")
    assert "secret" not in repr(link)
    assert "secret" not in link.fingerprint
    assert link.fingerprint != Connection("first_party", api_key="sk-other").fingerprint


@pytest.mark.parametrize(
    ("link", "sent"),
    [
        ({"provider": "first_party", "api_key": "sk-test"}, {"authorization": "Bearer sk-test"}),
        (
            {"provider": "gateway", "api_key": "sk-test"},
            {"authorization": "Bearer sk-test", "x-api-key": "sk-test"},
        ),
        ({"provider": "gateway", "api_key": "sk-test", "auth_header": "x-api-key"}, {"x-api-key": "sk-test"}),
        ({"provider": "gateway", "api_key": "sk-test", "auth_header": "bearer"}, {"authorization": "Bearer sk-test"}),
        ({"provider": "gateway", "auth_token": "tok"}, {"authorization": "Bearer tok"}),
        (
            {"provider": "gateway", "headers": (("Authorization", "Basic x"), ("X-Team", "a"))},
            {"authorization": "Basic x", "x-team": "a"},
        ),
    ],
)
async def test_keys_travel_in_the_right_headers(api: ApiServer, make_client: MakeClient, link, sent) -> None:
    api.always("fine")
    await collect(make_client(connection=Connection(base_url=api.url, **link)).stream(ask()))
    headers = api.requests[0].headers
    assert {k: headers[k] for k in ("authorization", "x-api-key", "x-team") if k in headers} == sent
    assert headers["user-agent"].startswith("agentcli/")


async def test_a_server_without_keys_gets_none_and_an_older_version_can_be_asked_for(
    api: ApiServer, make_client: MakeClient
) -> None:
    api.options.validate = False
    api.refused_is_fine = True
    link = Connection("gateway", api.url, anthropic_version="2023-06-01")
    api.always("fine")
    client = make_client(connection=link)
    await client.count(ask())
    headers = api.all_requests[0].headers
    assert not {"authorization", "x-api-key"} & set(headers)
    assert headers["anthropic-version"] == "2023-06-01"


async def test_a_cloud_without_its_packages_says_what_to_install(make_client: MakeClient) -> None:
    client = make_client(connection=Connection("vertex", key_source="Google Cloud"))
    with pytest.raises(SetupError, match="vertex"):
        await client.prefetch()


async def test_foundry_is_asked_through_its_own_client(api: ApiServer, make_client: MakeClient) -> None:
    api.play("fine")
    env = {
        "CLAUDE_CODE_USE_FOUNDRY": "1",
        "ANTHROPIC_FOUNDRY_BASE_URL": api.url,
        "ANTHROPIC_FOUNDRY_API_KEY": "sk-foundry",
    }
    await collect(make_client(connection=await connect({}, env)).stream(ask(tools=(READ, LATE))))
    (request,) = api.requests
    assert (request.headers["api-key"], request.tool_names, request.betas) == ("sk-foundry", ["Read"], ())


async def test_bedrock_without_its_packages_says_what_to_install(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("boto3") is not None:
        pytest.skip("the packages are installed")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    client = make_client(connection=Connection("bedrock", "http://127.0.0.1:1", key_source="AWS"))
    with pytest.raises((ApiError, SetupError), match=r"install agentcli\[bedrock\]"):
        await collect(client.stream(ask(model="anthropic.claude-opus-5-5")))
