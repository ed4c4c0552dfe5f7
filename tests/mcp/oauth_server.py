"""A protected server with its own authorisation server: ``oauth_server.py PORT``.

Every authorisation is granted at once (or refused, with ``?deny`` in the scope); access tokens can be revoked at
``/revoke``, so that the refresh token is needed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from mcp.server import MCPServer

PORT = int(sys.argv[1])
BASE = f"http://127.0.0.1:{PORT}"
server = MCPServer("guarded", version="0.1")
challenges: dict[str, str] = {}
valid: set[str] = set()
counts = {"token": 0, "register": 0}
refreshable = {"on": True}


@server.tool()
def whoami() -> str:
    """Says who."""
    return "you"


inner = server.streamable_http_app()


async def answer(send: Any, status: int, value: Any = None, headers: dict[str, str] | None = None) -> None:
    body = b"" if value is None else json.dumps(value).encode()
    made = {"content-type": "application/json", **(headers or {})}
    raw = [(k.encode(), v.encode()) for k, v in made.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


async def body_of(receive: Any) -> bytes:
    found = b""
    while True:
        message = await receive()
        found += message.get("body", b"")
        if not message.get("more_body"):
            return found


async def token(receive: Any, send: Any) -> None:
    form = {k: v[0] for k, v in parse_qs((await body_of(receive)).decode()).items()}
    if form["grant_type"] == "authorization_code":
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenges.pop(form["code"], None) != proof:
            await answer(send, 400, {"error": "invalid_grant"})
            return
    elif not refreshable["on"]:
        await answer(send, 400, {"error": "invalid_grant"})
        return
    counts["token"] += 1
    access = f"access-{counts['token']}"
    valid.add(access)
    made = {"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "refresh-me"}
    await answer(send, 200, made)


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        await inner(scope, receive, send)
        return
    path, query = scope["path"], {k: v[0] for k, v in parse_qs(scope["query_string"].decode()).items()}
    if path.startswith("/.well-known/oauth-protected-resource"):
        await answer(send, 200, {"resource": f"{BASE}/mcp", "authorization_servers": [BASE]})
    elif path == "/.well-known/oauth-authorization-server":
        made = {
            "issuer": BASE,
            "authorization_endpoint": f"{BASE}/authorize",
            "token_endpoint": f"{BASE}/token",
            "registration_endpoint": f"{BASE}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
        }
        await answer(send, 200, made)
    elif path == "/register":
        counts["register"] += 1
        wanted = json.loads(await body_of(receive))
        await answer(send, 201, {**wanted, "client_id": f"client-{counts['register']}"})
    elif path == "/authorize":
        back = {"state": query["state"]}
        if "deny" in query.get("scope", ""):
            back |= {"error": "access_denied", "error_description": "not for you"}
        else:
            code = f"code-{len(challenges)}-{counts['token']}"
            challenges[code] = query["code_challenge"]
            back["code"] = code
        await answer(send, 302, headers={"location": f"{query['redirect_uri']}?{urlencode(back)}"})
    elif path == "/token":
        await token(receive, send)
    elif path == "/revoke":
        valid.clear()
        refreshable["on"] = "all" not in query
        await answer(send, 200, counts)
    elif path == "/mcp":
        given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        if given not in valid:
            where = f'Bearer resource_metadata="{BASE}/.well-known/oauth-protected-resource"'
            await answer(send, 401, headers={"www-authenticate": where})
        else:
            await inner(scope, receive, send)
    else:
        await answer(send, 404)


uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")
