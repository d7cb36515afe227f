# The clerk as `async def`.
from convoke_agent import InDoubt, agent


def note(line):
    with open("effects.txt", "a") as file:
        file.write(f"{line}\n")


async def thoughts():
    yield "I "
    yield "think. "


@agent
async def main(ctx):
    ctx.say("Looking. ")
    order = await ctx.step("find", lambda: {"id": 7}, repeatable=True)
    await ctx.stream("think", thoughts)
    why = await ctx.ask("Why?", options=["late"])
    ctx.say(f"Since {why}: ")

    async def refund(input):
        note(f"refund {input['order']}")
        return "r-1"

    async def mail():
        ctx.say("Mailing. ")
        note("mail")

    try:
        refunded = await ctx.approve("refund", {"order": order["id"]}, refund)
        ctx.say(f"{refunded.value}. " if refunded.allowed else "no. ")
        ctx.usage(input_tokens=2, output_tokens=3)
        await ctx.step("mail", mail)
    except InDoubt as doubt:
        ctx.say(f"In doubt: {doubt.step}. ")
    ctx.state["runs"] = ctx.state.get("runs", 0) + 1
    return f"Run {ctx.state['runs']}."
