"""
A program that reports with Sentry's SDK for Python: `main.py report` once of everything, `main.py limited` ten errors,
`main.py cases` errors that are easily taken for one, or for many.
"""

import json
import logging
import sys

import sentry_sdk


class CartError(Exception):
    pass


def price(cart):
    return cart["price"]


def total(cart):
    try:
        return price(cart)
    except KeyError as error:
        raise CartError("the cart 'A-1001' has no price") from error


def fail():
    try:
        total({})
    except CartError:
        sentry_sdk.capture_exception()


def report():
    scope = sentry_sdk.get_isolation_scope()
    scope.start_session()
    with sentry_sdk.start_transaction(op="task", name="checkout"):
        pass
    sentry_sdk.set_tag("shop", "eu")
    sentry_sdk.set_user({"id": "4711", "username": "jane"})
    sentry_sdk.set_context("cart", {"id": "A-1001", "items": 3})
    sentry_sdk.add_breadcrumb(category="cart", message="opened", level="info")
    for _ in range(2):
        fail()
        sentry_sdk.capture_message("stock is low", level="info")
    scope.end_session()
    sentry_sdk.flush(10)


def limited():
    for _ in range(10):
        fail()
        sentry_sdk.flush(10)


def load_cart():
    return json.loads("{")


def load_stock():
    return json.loads("{")


def prices():
    raise ExceptionGroup("prices", [ValueError("a tea"), KeyError("a cup")])


def cases():
    for work in (load_cart, load_stock, prices):
        try:
            work()
        except Exception:
            sentry_sdk.capture_exception()
    for name in ("alice", "bob"):
        logging.getLogger("shop").error("login of %s failed", name)
    sentry_sdk.flush(10)


sentry_sdk.init(
    dsn=sys.argv[2],
    release="shop@1.4.2+7",
    environment="production",
    server_name="web-1",
    traces_sample_rate=1.0 if sys.argv[1] == "report" else None,
)
{"report": report, "limited": limited, "cases": cases}[sys.argv[1]]()
print("done")
