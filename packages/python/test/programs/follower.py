"""Follows runs as it is told, one line of JSON a run, and prints what it got."""

import asyncio
import json
import sys

from convoke_sdk import AsyncConvoke, Convoke, ConvokeError, Retry


def main() -> None:
    if sys.argv[1] == "asyncio":
        asyncio.run(answer_all())
        return
    for line in sys.stdin:
        task = json.loads(line)
        events, code = [], None
        with Convoke(**options(task)) as convoke:
            run = convoke.sessions.at("sess_1").runs.at(task["run_id"])
            try:
                for event in run.follow(**task["follow"]):
                    events.append(event["id"])
            except ConvokeError as error:
                code = error.code
        tell(events, code)


async def answer_all() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = json.loads(line)
        events, code = [], None
        async with AsyncConvoke(**options(task)) as convoke:
            run = convoke.sessions.at("sess_1").runs.at(task["run_id"])
            try:
                async for event in run.follow(**task["follow"]):
                    events.append(event["id"])
            except ConvokeError as error:
                code = error.code
        tell(events, code)


def options(task):
    return {
        "base_url": task["base_url"],
        "token": "a-token",
        "organization_id": "org_1",
        "tenant_id": "ten_1",
        "retry": Retry(attempts=4, base=0.001, max=0.002),
    }


def tell(events, code) -> None:
    print(json.dumps({"events": events, "code": code}), flush=True)


main()
