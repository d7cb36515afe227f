"""The programs of packages/agent/test/zoo.ts as `async def`, under the same names."""

import asyncio

from convoke_agent import Denied, InDoubt, StepFailed, agent
from zoo import amount_of, too_far, zoo as plain_zoo


async def later(turns=1):
    await asyncio.sleep(turns / 2000)


@agent
async def loop(ctx):
    for word in ctx.prompt.split(" "):
        ctx.say(f"{word}: ")
        ctx.say(f"{await ctx.step('length', lambda: len(word))}\n")


@agent
async def branches(ctx):
    async def branch(name, turns):
        await ctx.step(f"first {name}", lambda: later(turns), repeatable=True)
        ctx.say(f"{name} one\n")
        await ctx.step(f"second {name}", lambda: later(8 - turns), repeatable=True)
        ctx.say(f"{name} two\n")

    await asyncio.gather(branch("a", 6), branch("b", 1), branch("c", 3))
    return "end\n"


@agent
async def speakers(ctx):
    async def speaker(name, parts):
        async def speak():
            for part in range(parts):
                ctx.say(f"{name}{part} ")
                await later()

        await ctx.step(name, speak, repeatable=True)

    await asyncio.gather(speaker("x", 4), speaker("y", 1), speaker("z", 2))
    return "end"


@agent
async def questions(ctx):
    why = await ctx.ask("Why?", options=["broken", "late"])
    ctx.say(f"{why}. ")
    paid = await ctx.approve("pay", {"amount": 5}, lambda input: f"paid {input['amount']}")
    ctx.say(f"{paid.value if paid.allowed else 'no'}. ")
    mailed = await ctx.approve("mail", {"to": "x"}, lambda: "mailed")
    ctx.state["runs"] = ctx.state.get("runs", 0) + 1
    return mailed.value if mailed.allowed else f"{mailed.reason or ''}."


@agent
async def at_once(ctx):
    one, two, three = await asyncio.gather(
        ctx.ask("One?"), ctx.ask("Two?", options=["2"]), ctx.step("three", lambda: 3)
    )
    return f"{one} {two} {three}"


@agent
async def error(ctx):
    try:
        await ctx.step("fail", too_far)
    except InDoubt:
        return "in doubt"
    except StepFailed as failed:
        return f"{failed.reason}: {failed}"


@agent
async def scopes(ctx):
    async def count(name):
        one = await ctx.step("count", lambda: len(name))
        return one + await ctx.step("count", lambda: 10)

    totals = await asyncio.gather(*(ctx.scope(name, lambda name=name: count(name)) for name in "ab"))
    return " ".join(str(total) for total in totals)


@agent
async def progress(ctx):
    at = (ctx.saved or {"at": 0})["at"]
    while at < 3:
        value = await ctx.step("add", lambda: at)
        ctx.state["sum"] = ctx.state.get("sum", 0) + value
        ctx.say(f"{at} ")
        at += 1
        ctx.save({"at": at})
    return f"= {ctx.state.get('sum', 0)}"


async def words():
    for word in ["some ", "words "]:
        await later()
        yield word


@agent
async def stream(ctx):
    whole = await ctx.stream("model", words)
    ctx.usage(model="m", input_tokens=3, output_tokens=4)
    ctx.event("counted", {"characters": len(whole)})
    await ctx.step("effect", lambda: None)
    return f"({len(whole)})"


@agent
async def rules(ctx):
    def refund(amount):
        return ctx.step("refund", amount_of, input={"amount": amount})

    async def denied(call):
        try:
            return await call
        except Denied as error:
            return error.reason

    ctx.say(f"{await refund(20)} {await refund(80)} ")
    ctx.say(f"{await denied(refund(90))} ")
    dropped = await denied(ctx.step("db/drop", lambda: "dropped", input={"database": "prod-1"}))
    ctx.say(f"{dropped} ")
    approved = await ctx.approve("db/drop", {"database": "prod-2"}, lambda: "dropped")
    await ctx.step("db/drop", lambda: "dropped", input={"database": "test"})
    return "dropped" if approved.allowed else approved.reason


programs = [loop, branches, speakers, questions, at_once, error, scopes, progress, stream, rules]
zoo = {
    name: (program, options, check)
    for program, (name, (_, options, check)) in zip(programs, plain_zoo.items())
}
