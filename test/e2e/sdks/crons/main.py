"""Scheduled jobs that report with Sentry's SDK for Python: `main.py report <dsn>`."""

import sys

import sentry_sdk
from sentry_sdk.crons import monitor

sentry_sdk.init(dsn=sys.argv[2], release="shop@1.4.2", environment="production")


@monitor(monitor_slug="stock", monitor_config={"schedule": {"type": "interval", "value": 2, "unit": "hour"}})
def stock():
    pass


@monitor(monitor_slug="nightly", monitor_config={"schedule": {"type": "crontab", "value": "0 3 * * *"}})
def nightly():
    raise ValueError("disk full")


stock()
try:
    nightly()
except ValueError:
    pass
sentry_sdk.flush(10)
print("done")
