"""A server in raw JSON-RPC, driven by a script: ``raw_server.py SCRIPT.json``.

The script says what it lists and what its tools do; every behaviour of a broken server is one word of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
TOOLS: list[Any] = SCRIPT.get("tools", [])
LISTED = {"count": 0}
NEWER = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What results of the protocol without a handshake carry."""


def send(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **value}) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    path = SCRIPT.get("notes")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def ask(method: str, params: dict[str, Any], number: str) -> Any:
    """A request of ours to the client; waits for its answer."""
    send({"id": number, "method": method, "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == number:
            return message.get("result", message.get("error"))
    return None


def initialize(request: dict[str, Any]) -> None:
    while "wait_for" in SCRIPT and not Path(SCRIPT["wait_for"]).exists():
        time.sleep(0.01)
    if SCRIPT.get("mute"):
        time.sleep(3600)
    if "fail_times" in SCRIPT:
        path = Path(SCRIPT["fail_file"])
        count = int(path.read_text()) if path.exists() else 0
        path.write_text(str(count + 1))
        if count < SCRIPT["fail_times"]:
            print("not ready yet", file=sys.stderr, flush=True)
            os._exit(7)
    time.sleep(SCRIPT.get("start_delay", 0))
    if SCRIPT.get("early_notice"):
        send({"method": "notifications/tools/list_changed"})
    capabilities = SCRIPT.get("capabilities", {"tools": {}})
    result = {
        "protocolVersion": "2025-06-18",
        "capabilities": capabilities,
        "serverInfo": {"name": SCRIPT.get("name", "raw"), "version": "1"},
    }
    if "instructions" in SCRIPT:
        result["instructions"] = SCRIPT["instructions"]
    send({"id": request["id"], "result": result})


def call(request: dict[str, Any]) -> None:
    name = request["params"]["name"]
    arguments = request["params"].get("arguments") or {}
    what = SCRIPT.get("calls", {}).get(name, {"text": f"{name} {json.dumps(arguments, sort_keys=True)}"})
    note(f"call {name} {json.dumps(arguments, sort_keys=True)}")
    if "exit" in what:
        os._exit(what["exit"])
    if what.get("half"):
        sys.stdout.write('{"jsonrpc":"2.0","id":')
        sys.stdout.flush()
        os._exit(0)
    if what.get("closeout"):
        os.close(1)
        time.sleep(9999)
    if "line" in what:
        sys.stdout.write(what["line"].replace("ID", json.dumps(request["id"])) + "\n")
        sys.stdout.flush()
        return
    if "sleep" in what:
        time.sleep(what["sleep"])
    token = (request["params"].get("_meta") or {}).get("progressToken")
    for step in what.get("progress", []):
        params = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
        send({"method": "notifications/progress", "params": params})
    answers = [ask(m, p, f"own-{i}") for i, (m, p) in enumerate(what.get("asks", []))]
    if "tools" in what:
        TOOLS[:] = what["tools"]
    notice = {"method": "notifications/tools/list_changed"}
    if what.get("notices_before"):
        for _ in range(what["notices_before"]):
            send(notice)
    if "error" in what:
        send({"id": request["id"], "error": what["error"]})
    elif "result" in what:
        send({"id": request["id"], "result": what["result"]})
    else:
        words = what.get("text", name) + (f" {json.dumps(answers, sort_keys=True)}" if answers else "")
        more = {"resultType": "complete"} if SCRIPT.get("only") else {}
        send({"id": request["id"], "result": text(words, **more)})
    for _ in range(what.get("notices", 0)):
        send(notice)


def answer(request: dict[str, Any]) -> None:
    method = request["method"]
    newest = SCRIPT.get("only")
    if method == "initialize" and newest:
        wrong = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": [newest]}}
        send({"id": request["id"], "error": wrong})
    elif method == "server/discover" and newest:
        found = {"supportedVersions": [newest], "capabilities": {"tools": {}}, **NEWER}
        send({"id": request["id"], "result": found})
    elif method == "initialize":
        initialize(request)
    elif method == "ping":
        send({"id": request["id"], "result": {}})
    elif method == "tools/list":
        LISTED["count"] += 1
        note(f"list {LISTED['count']}")
        send({"id": request["id"], "result": {"tools": TOOLS, **(NEWER if newest else {})}})
    elif method == "tools/call":
        call(request)
    elif method in SCRIPT.get("answers", {}):
        send({"id": request["id"], "result": SCRIPT["answers"][method]})
    elif not SCRIPT.get("ignores_unknown"):
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    if SCRIPT.get("ignores_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if SCRIPT.get("grandchild"):
        subprocess.Popen(["sleep", SCRIPT["grandchild"]])
    for line in SCRIPT.get("noise", []):
        print(line, flush=True)
    if "stderr" in SCRIPT:
        print(SCRIPT["stderr"], file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            answer(message)
        elif message.get("method") == "notifications/cancelled":
            note("cancelled")
    if SCRIPT.get("stubborn"):
        while True:
            time.sleep(1)


main()
