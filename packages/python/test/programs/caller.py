"""Makes calls as it is told, one line of JSON a call, and prints the result or the error."""

import asyncio
import json
import sys
import threading

from convoke_sdk import AsyncConvoke, Convoke, ConvokeError, Retry


def main() -> None:
    if sys.argv[1] == "asyncio":
        asyncio.run(answer_all())
        return
    for line in sys.stdin:
        task = json.loads(line)
        with Convoke(**options(task)) as convoke:
            tell(many(convoke, task["times"]) if task["call"] == "whoami" else once(convoke, task["call"]))


def once(convoke, name):
    try:
        return {"result": CALLS[name](convoke)}
    except ConvokeError as error:
        return failure(error)


def many(convoke, times):
    """From as many threads at once."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(once(convoke, "whoami"))) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == times
    return results[0]


async def answer_all() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = json.loads(line)
        async with AsyncConvoke(**options(task)) as convoke:
            calls = [CALLS[task["call"]](convoke) for _ in range(task["times"])]
            try:
                tell({"result": (await asyncio.gather(*calls))[0]})
            except ConvokeError as error:
                tell(failure(error))


CALLS = {
    "whoami": lambda convoke: convoke.whoami(),
    "resume": lambda convoke: convoke.sessions.at("sess_1").resume(),
    "schedule": lambda convoke: convoke.schedules.create(name="n", agent_name="a", cron="* * * * *", input="Hi"),
    "rotate": lambda convoke: convoke.webhooks.rotate("wh_1"),
}


def options(task):
    given = {"token": "a-token"} if task.get("token") else {"client_id": "id", "client_secret": "secret"}
    return {
        "base_url": task["base_url"],
        **given,
        "organization_id": "org_1",
        "tenant_id": "ten_1",
        "retry": Retry(base=0.001, max=0.002),
        "timeout": task.get("timeout", 60),
    }


def failure(error):
    return {
        "error": type(error).__name__,
        "code": error.code,
        "attempts": error.attempts,
        "unsure": error.unsure,
        "retry_after": error.retry_after,
    }


def tell(answer) -> None:
    print(json.dumps(answer), flush=True)


main()
