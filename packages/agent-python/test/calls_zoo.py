"""The programs of packages/agent/test/calls-zoo.ts, under the same names: that with a race as `async def`."""

import asyncio
import json

from convoke_agent import agent


def effect():
    return "done"


def text_of(called):
    return called.text if called.ok else called.code


def shown(called):
    """A call that brought nothing, as TypeScript has it."""
    given = {"ok": called.ok, "code": called.code, "message": called.message}
    return {**given, **({} if called.run_id is None else {"runId": called.run_id, "sessionId": called.session_id})}


@agent
def in_turn(ctx):
    found = ctx.call("researcher", {"prompt": "chairs"})
    ctx.step("note", effect)
    judged = ctx.call("critic", {"prompt": found.text if found.ok else "nothing"})
    return text_of(judged)


@agent
def side_by_side(ctx):
    def branch(what):
        found = ctx.call("researcher", {"prompt": what})
        ctx.step(f"keep {what}", effect)
        ctx.sleep(f"pause {what}", "1h")
        return text_of(found)

    return " ".join(ctx.parallel(lambda: branch("b"), lambda: branch("a"), lambda: branch("c")))


async def behind(call, value):
    await call
    return value


@agent
async def race(ctx):
    """What comes first; the other stays open."""
    tasks = [
        asyncio.ensure_future(behind(ctx.call("researcher", {"prompt": "x"}), "found")),
        asyncio.ensure_future(behind(ctx.sleep("deadline", "1h"), "late")),
    ]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    first = next(task.result() for task in tasks if task.done())
    await ctx.step(f"after {first}", effect)
    return first


@agent
def again(ctx):
    def tries():
        for timeout in ("1h", "3h"):
            found = ctx.call("researcher", {"prompt": "x"}, timeout=timeout)
            if found.ok:
                return f"{found.text} {found.run_id}"
            ctx.say(f"{found.code}: {found.message} ")
        return "never"

    return ctx.scope("tries", tries)


@agent
def brings_nothing(ctx):
    failed, denied = ctx.parallel(
        lambda: ctx.call("researcher", {"prompt": "x"}),
        lambda: ctx.call("spender", {"prompt": "y"}),
    )
    return json.dumps([shown(failed), shown(denied)], separators=(",", ":"))


@agent
def after_save(ctx):
    if ctx.saved is None:
        ctx.call("researcher", {"prompt": "x"})
        ctx.save("half")
    return text_of(ctx.call("researcher", {"prompt": "y"}))


#: name: program, options of every_kill, what holds for every text that is whole
zoo = {
    "one after the other": (
        in_turn,
        {
            "called": lambda call: f"{call.agent}: {json.dumps(call.input, separators=(',', ':'))}",
            "takes": {"researcher": "1h", "critic": "2h"},
        },
        None,
    ),
    "side by side, with a step and a sleep behind each": (
        side_by_side,
        {"called": lambda call: f"<{json.dumps(call.input['prompt'])}>"},
        None,
    ),
    "against the clock: the later one does not win": (race, {"takes": {"researcher": "2h"}}, None),
    "a time for it, in a loop and a scope: the same call twice is two runs": (
        again,
        {"takes": {"researcher": "2h"}},
        None,
    ),
    "one that fails, and one that a person does not allow": (
        brings_nothing,
        {
            "approval_required_tools": ["call_spender"],
            "answer": lambda asked: {"allow": False, "reason": "Too expensive."},
            "called": lambda call: {"ok": False, "code": "model_error", "message": "The model is down."},
        },
        None,
    ),
    "after a save": (after_save, {}, None),
}
