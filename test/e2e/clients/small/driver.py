"""A test's calls, a line of JSON each time: `{"calls": [{client, method, args}]}`; their results as a line with a list."""

import dataclasses
import json
import os
import sys
import uuid
from datetime import datetime

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "clients", "python"))
import aos_client


def call(method, args, client=None):
    if method == "verify_license_file":
        args = dict(args, now=datetime.fromisoformat(args["now"].replace("Z", "+00:00")))
        return aos_client.verify_license_file(**args)
    made = aos_client.Client(**(client or {}))
    if method == "capture_exception":
        how = args.pop("how", "plain")
        if how == "odd":
            args["context"] = odd_context()
        capture = made.capture_exception
        try:
            if how == "group":
                raise_group()
            json.loads("{")
        except Exception as error:
            return capture(error, **args) if how == "detached" else made.capture_exception(error, **args)
    if method == "release_license":
        return {"released": made.release_license(**args)}
    if method == "hold_seat":
        return made.hold_seat(**args).license
    if method == "hold_and_release_seat":
        with made.hold_seat(**args) as seat:
            return seat.license
    return getattr(made, method)(**args)


def odd_context():
    context = {"ratio": float("nan"), "id": uuid.UUID("12345678-1234-5678-1234-567812345678"), 1: ("a", float("inf"))}
    context["self"] = {"self": context}
    return context


def raise_group():
    if sys.version_info >= (3, 11):
        raise ExceptionGroup("two failed", [ValueError("first member"), KeyError("second member")])
    raise ValueError("first member, second member")


def result(**asked):
    try:
        returned = call(**asked)
        return returned if isinstance(returned, dict) else dataclasses.asdict(returned)
    except (TypeError, ValueError) as error:
        return {"raised": str(error)}


for line in sys.stdin:
    print(json.dumps([result(**asked) for asked in json.loads(line)["calls"]]), flush=True)
