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
            tell(many(convoke, task["call"], task["times"]))


def once(convoke, name):
    try:
        return {"result": told(CALLS[name](convoke))}
    except ConvokeError as error:
        return failure(error)


def many(convoke, name, times):
    """From as many threads at once."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(once(convoke, name))) for _ in range(times)]
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
                tell({"result": told((await asyncio.gather(*calls))[0])})
            except ConvokeError as error:
                tell(failure(error))


def told(result):
    """A handle has the id of what was created."""
    return {"id": result.id} if hasattr(result, "id") else result


CALLS = {
    "whoami": lambda convoke: convoke.whoami(),
    "create_schedule": lambda convoke: convoke.schedules.create(
        name="n", agent_name="a", cron="* * * * *", input="Hi"
    ),
    "create_session": lambda convoke: convoke.sessions.create("demo"),
    "start_run": lambda convoke: session(convoke).run("Hello", idempotency_key="order-7"),
    "prepare_file": lambda convoke: session(convoke).files.prepare(name="a.txt"),
    "delete_file": lambda convoke: session(convoke).files.delete("file_1"),
    "cancel": lambda convoke: session(convoke).runs.at("run_1").cancel(),
    "stop": lambda convoke: session(convoke).stop(),
    "terminate": lambda convoke: session(convoke).stop(mode="terminate"),
    "resume": lambda convoke: session(convoke).resume(),
    "answer": lambda convoke: session(convoke).interactions.answer("int_1", {"decision": "allow"}),
    "rotate_secret": lambda convoke: convoke.webhooks.rotate("wh_1"),
}


def session(convoke):
    return convoke.sessions.at("sess_1")


def options(task):
    given = {"token": "a-token"} if task.get("token") else {"client_id": "id", "client_secret": "cvk_secret"}
    return {
        "base_url": task["base_url"],
        **given,
        "organization_id": "org_1",
        "tenant_id": "ten_1",
        "retry": Retry(attempts=task["attempts"], base=0.001, max=0.002),
        "timeout": task["timeout_ms"] / 1000,
    }


def failure(error):
    return {
        "error": {
            "name": NAMES.get(type(error).__name__, type(error).__name__),
            "code": error.code,
            "status": error.status,
            "message": error.message,
            "attempts": error.attempts,
            "unsure": error.unsure,
            "request_id": error.request_id,
            "retry_after": error.retry_after,
        }
    }


#: Errors whose names are taken in Python, with those that they have elsewhere.
NAMES = {"ConnectionFailedError": "ConnectionError", "PermissionDeniedError": "PermissionError"}


def tell(answer) -> None:
    print(json.dumps(answer), flush=True)


main()
