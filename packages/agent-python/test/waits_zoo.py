"""The programs of packages/agent/test/waits-zoo.ts, under the same names: those with a race as `async def`."""

import asyncio
import json

from convoke_agent import agent


def effect():
    return "done"


@agent
def loop(ctx):
    for round in (1, 2, 3):
        ctx.step("look", effect)
        ctx.say(f"{round} ")
        ctx.sleep("pause", "1d")


@agent
def early(ctx):
    ctx.sleep("begin", "1h")
    for timeout in ("2h", "4h", "1h"):
        paid = ctx.receive("paid", timeout=timeout)
        ctx.say("unpaid " if paid.timed_out else f"{paid.data} ")


@agent
async def kept(ctx):
    first = await ctx.receive("paid", timeout="1h")
    await ctx.step("remind", effect)
    await ctx.sleep("patience", "2h")
    second = await ctx.receive("paid", timeout="1h")
    shown = json.dumps({"timedOut": second.timed_out, "data": second.data}, separators=(",", ":"))
    return f"{json.dumps(first.timed_out)} {shown}"


@agent
def side_by_side(ctx):
    def branch(name, time):
        ctx.sleep(name, time)
        ctx.step(f"after {name}", effect)
        return name

    return " ".join(ctx.parallel(lambda: branch("b", "2h"), lambda: branch("a", "1h"), lambda: branch("c", "3h")))


async def first_of(*calls):
    """What comes first; the others stay open."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    return next(task.result() for task in tasks if task.done())


async def behind(call, value):
    await call
    return value


@agent
async def race(ctx):
    slow = behind(ctx.sleep("slow", "2h"), "slow")
    winner = await first_of(slow, behind(ctx.sleep("fast", "1h"), "fast"))
    await ctx.step(f"after {winner}", effect)
    await ctx.sleep("rest", "3h")
    return winner


@agent
async def deadline(ctx):
    late = behind(ctx.sleep("deadline", "4h"), "no answer in time")
    said = await first_of(ctx.ask("Ship it?"), late)
    await ctx.step(f"ship: {said}", effect)
    return said


@agent
async def in_time(ctx):
    late = behind(ctx.sleep("deadline", "4h"), "no answer in time")
    said = await first_of(late, ctx.ask("Ship it?"))
    await ctx.step(f"ship: {said}", effect)
    return said


@agent
def mailbox(ctx):
    def read():
        total = 0
        while True:
            letter = ctx.receive("letter", timeout="1d")
            if letter.timed_out:
                return str(total)
            total += ctx.step("add", lambda: letter.data)

    return ctx.scope("mail", read)


@agent
def callbacks(ctx):
    for round in range((ctx.saved or 0) + 1, 3):
        url = ctx.callback_url("paid")
        ctx.step(f"invoice {round}", effect, input=url)
        ctx.receive("paid", timeout="1h")
        ctx.save(round)
    ctx.scope("more", lambda: ctx.step("say", effect, input=ctx.callback_url("paid")))


#: name: program, options of every_kill, what holds for every text that is whole
zoo = {
    "a sleep in a loop": (loop, {}, None),
    "an early message, a late one, and one that does not come": (
        early,
        {"signals": [{"name": "paid", "data": 1}, {"name": "paid", "data": 2, "after": "3h"}]},
        None,
    ),
    "a timeout, and the message after it is kept": (
        kept,
        {"signals": [{"name": "paid", "data": {"amount": 20}, "after": "2h"}]},
        None,
    ),
    "side by side, with a step behind each": (side_by_side, {}, None),
    "the first of two: the later one does not win because it is asked for first": (race, {}, None),
    "a question with a deadline": (deadline, {"answer": lambda asked: {"later": True}}, None),
    "a question that is answered before its deadline": (in_time, {"answer": lambda asked: "yes"}, None),
    "a mailbox, in a scope": (
        mailbox,
        {"signals": [{"name": "letter", "data": data, "after": f"{data}h"} for data in (1, 2, 3)]},
        None,
    ),
    "a callback URL, in a loop and in a scope": (callbacks, {"message": lambda name: 20}, None),
}
