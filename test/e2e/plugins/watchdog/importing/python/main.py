"""Pings by the published clients of Healthchecks (healthchecks-io) and Uptime Kuma (apykuma), as their READMEs say."""

import asyncio
import sys

import apykuma
from healthchecks_io import CheckTrap, Client

base, check, push, what = sys.argv[1:]
client = Client(api_key="none", ping_url=f"{base}/ping/")


async def pushed(url: str) -> None:
    """Until the first push is out."""
    task = await apykuma.start(url, interval=60, handle_exception=lambda error: sys.exit(repr(error)))
    await asyncio.sleep(1)
    task.cancel()


if what == "success":
    print(client.start_ping(uuid=check), client.success_ping(uuid=check, data="moved 3 files"))
elif what == "exit":
    print(client.exit_code_ping(exit_code=3, uuid=check, data="disk full"))
elif what == "trap":
    try:
        with CheckTrap(client, uuid=check):
            raise ValueError("no disk")
    except ValueError:
        print("raised")
elif what == "log":
    print(client.success_ping(uuid=check))
elif what == "push":
    asyncio.run(pushed(f"{push}?status=up&msg=OK&ping="))
