"""Makes calls as it is told, one line of JSON a call, and prints how many sockets are open after each."""

import asyncio
import gc
import json
import socket
import sys

from convoke_sdk import AsyncConvoke, Convoke, ConvokeError, Retry


def main() -> None:
    if sys.argv[1] == "asyncio":
        asyncio.run(answer_all())
        return
    for line in sys.stdin:
        outcome = "done"
        try:
            with Convoke(**options(json.loads(line))) as convoke:
                convoke.whoami()
        except ConvokeError as error:
            outcome = error.code
        tell(outcome)


async def answer_all() -> None:
    begun = None
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = json.loads(line)
        if task["do"] == "begin":
            begun = asyncio.create_task(call(task))
            print("{}", flush=True)
            continue
        if task["do"] == "cancel":
            begun.cancel()
        else:
            begun = asyncio.create_task(call(task))
        tell((await asyncio.gather(begun, return_exceptions=True))[0])


async def call(task):
    async with AsyncConvoke(**options(task)) as convoke:
        try:
            await convoke.whoami()
        except ConvokeError as error:
            return error.code
    return "done"


def options(task):
    return {
        "base_url": task["base_url"],
        "token": "a-token",
        "organization_id": "org_1",
        "tenant_id": "ten_1",
        "retry": Retry(attempts=2, base=0.001, max=0.002),
        "timeout": task.get("timeout", 60),
    }


def tell(outcome) -> None:
    said = outcome if isinstance(outcome, str) else type(outcome).__name__
    print(json.dumps({"outcome": said, "open": open_sockets()}), flush=True)


def open_sockets() -> int:
    """Without those that the event loop wakes itself with."""
    known = [one for one in gc.get_objects() if isinstance(one, socket.socket)]
    return sum(one.fileno() >= 0 and one.family in (socket.AF_INET, socket.AF_INET6) for one in known)


main()
