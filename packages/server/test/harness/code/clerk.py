# An agent as code that does everything at which a worker can be lost: it appends each effect to a file.
from convoke_agent import InDoubt, agent


def note(line):
    with open("effects.txt", "a") as file:
        file.write(f"{line}\n")


@agent
def main(ctx):
    ctx.say("Looking. ")
    order = ctx.step("find", lambda: {"id": 7}, repeatable=True)
    ctx.stream("think", lambda: iter(["I ", "think. "]))
    why = ctx.ask("Why?", options=["late"])
    ctx.say(f"Since {why}: ")

    def refund(input):
        note(f"refund {input['order']}")
        return "r-1"

    def mail():
        ctx.say("Mailing. ")
        note("mail")

    try:
        refunded = ctx.approve("refund", {"order": order["id"]}, refund)
        ctx.say(f"{refunded.value}. " if refunded.allowed else "no. ")
        ctx.usage(input_tokens=2, output_tokens=3)
        ctx.step("mail", mail)
    except InDoubt as doubt:
        ctx.say(f"In doubt: {doubt.step}. ")
    ctx.state["runs"] = ctx.state.get("runs", 0) + 1
    return f"Run {ctx.state['runs']}."
