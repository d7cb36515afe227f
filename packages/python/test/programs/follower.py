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
        events, code, result = [], None, None
        with Convoke(**options(task)) as convoke:
            run = convoke.sessions.at("sess_1").runs.at(task["run_id"])
            try:
                if "wait" in task:
                    result = getattr(run, task["wait"])(timeout=task["timeout"])
                else:
                    for event in run.follow(**task["follow"]):
                        events.append(event["id"])
            except TimeoutError as error:
                # Also an error of the client: that is what applications catch.
                code = error.code if isinstance(error, ConvokeError) else None
            except ConvokeError as error:
                code = error.code
        tell(events, code, result)


async def answer_all() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = json.loads(line)
        events, code, result = [], None, None
        async with AsyncConvoke(**options(task)) as convoke:
            run = convoke.sessions.at("sess_1").runs.at(task["run_id"])
            try:
                if "wait" in task:
                    result = await getattr(run, task["wait"])(timeout=task["timeout"])
                else:
                    async for event in run.follow(**task["follow"]):
                        events.append(event["id"])
            except TimeoutError as error:
                # Also an error of the client: that is what applications catch.
                code = error.code if isinstance(error, ConvokeError) else None
            except ConvokeError as error:
                code = error.code
        tell(events, code, result)


def options(task):
    return {
        "base_url": task["base_url"],
        "token": "a-token",
        "organization_id": "org_1",
        "tenant_id": "ten_1",
        "retry": Retry(attempts=4, base=0.001, max=0.002),
    }


def tell(events, code, result) -> None:
    said = {"events": events, "code": code}
    print(json.dumps(said if result is None else {**said, "result": result}), flush=True)


main()
