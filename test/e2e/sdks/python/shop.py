"""
A web shop with Sentry's SDK for Python, unchanged but for its DSN and its release: `shop.py <requests> <crashes> <dsn> <release>` serves so many
requests through the SDK's WSGI middleware, of which so many end in an error that nobody catches.
"""

import sys

import sentry_sdk
from sentry_sdk.integrations.wsgi import SentryWsgiMiddleware


def shop(environ, start_response):
    if environ["PATH_INFO"] == "/warn":
        sentry_sdk.capture_exception(ValueError("no price"))
    if environ["PATH_INFO"] == "/crash":
        raise RuntimeError("the shop is on fire")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"a shop"]


def ask(app, path):
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
    }
    try:
        for _ in app(environ, lambda *_: None):
            pass
    except RuntimeError:
        pass


requests, crashes, dsn, release = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
sentry_sdk.init(dsn=dsn, release=release)
with_sentry = SentryWsgiMiddleware(shop)
for n in range(requests):
    ask(with_sentry, "/crash" if n < crashes else "/warn" if n == crashes else "/")
sentry_sdk.flush(10)
print("done")
