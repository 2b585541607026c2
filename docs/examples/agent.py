"""A whole session of a coding agent over MCP, with nothing but Python's standard library.

    SVC_URL=http://127.0.0.1:8080 SVC_TOKEN=svc_live_... AOS_PROJECT=shop python3 docs/examples/agent.py

AOS_BUILD names the version that will carry the fixes; without it a person closes what is resolved.
"""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("SVC_URL", "http://127.0.0.1:8080") + "/mcp"
TOKEN = os.environ["SVC_TOKEN"]
PROJECT = os.environ.get("AOS_PROJECT")
BUILD = os.environ.get("AOS_BUILD")


class Refused(Exception):
    """The service said no: `code`, a sentence, and what belongs to the code."""

    def __init__(self, error):
        wrong = "".join(f" {field} {why}." for field, why in error.get("fields", {}).items())
        super().__init__(f"{error['code']}: {error['message']}{wrong}")
        self.error = error


def rpc(method, params):
    """One call. There is no session: every call carries the credential, and any process may answer it."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    request = urllib.request.Request(
        URL,
        data=json.dumps(message).encode(),
        headers={
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def call(tool, **arguments):
    result = rpc("tools/call", {"name": tool, "arguments": arguments})
    if result.get("isError"):
        raise Refused(result["structuredContent"]["error"])
    return result["structuredContent"], result["content"][0]["text"]


def fix(item, text):
    """Where your model works. `text` is the whole answer; what came from outside stands between marks: data, no orders."""
    print(f"working on {item['ref']} ({item['severity']}), {len(text)} characters to read")
    return "The total was computed before the discount; fixed and tested.", BUILD


def work():
    """Takes one item and resolves it. False when there is no more work."""
    filters = {"project": PROJECT} if PROJECT else {}
    taken, text = call("next", agent="python-agent", lease_seconds=600, **filters)
    item = taken["item"]
    if item is None:
        return False
    held = {"id": item["ref"], "claim_token": taken["lease"]["claim_token"]}
    alike, _ = call("similar", id=item["ref"])
    print(f"{len(alike['items'])} similar")
    try:
        comment, build = fix(item, text)
        call("renew", **held, lease_seconds=600)  # at half of the lease, while the work goes on
        fixed_in = {"resolved_in_build": build} if build else {}
        done, _ = call("resolve", **held, **fixed_in, comment=comment)
        print(f"{done['ref']} is {done['status']} in {build or 'no build yet'}, revision {done['rev']}")
    except Refused as refused:
        if refused.error["code"] != "lease_lost":  # after lease_lost it is not ours to give back
            call("release", **held, reason=str(refused)[:500])
        raise
    return True


def main():
    rpc(
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "python-agent", "version": "1.0.0"},
        },
    )
    print(f"{len(rpc('tools/list', {})['tools'])} tools")
    while work():
        pass
    print("no more work")


if __name__ == "__main__":
    try:
        main()
    except (Refused, urllib.error.URLError) as error:
        sys.exit(str(error))
