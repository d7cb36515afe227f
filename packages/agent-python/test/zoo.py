"""The programs of packages/agent/test/zoo.ts as `def`, under the same names."""

import re
import time

from convoke_agent import Denied, InDoubt, StepFailed, agent


class RangeError(Exception):
    """As JavaScript has it: its name is part of what the program says."""


def later(turns=1):
    time.sleep(turns / 2000)


@agent
def loop(ctx):
    for word in ctx.prompt.split(" "):
        ctx.say(f"{word}: ")
        ctx.say(f"{ctx.step('length', lambda: len(word))}\n")


@agent
def branches(ctx):
    def branch(name, turns):
        ctx.step(f"first {name}", lambda: later(turns), repeatable=True)
        ctx.say(f"{name} one\n")
        ctx.step(f"second {name}", lambda: later(8 - turns), repeatable=True)
        ctx.say(f"{name} two\n")

    ctx.parallel(lambda: branch("a", 6), lambda: branch("b", 1), lambda: branch("c", 3))
    return "end\n"


@agent
def speakers(ctx):
    def speaker(name, parts):
        def speak():
            for part in range(parts):
                ctx.say(f"{name}{part} ")
                later()

        ctx.step(name, speak, repeatable=True)

    ctx.parallel(lambda: speaker("x", 4), lambda: speaker("y", 1), lambda: speaker("z", 2))
    return "end"


@agent
def questions(ctx):
    why = ctx.ask("Why?", options=["broken", "late"])
    ctx.say(f"{why}. ")
    paid = ctx.approve("pay", {"amount": 5}, lambda input: f"paid {input['amount']}")
    ctx.say(f"{paid.value if paid.allowed else 'no'}. ")
    mailed = ctx.approve("mail", {"to": "x"}, lambda: "mailed")
    ctx.state["runs"] = ctx.state.get("runs", 0) + 1
    return mailed.value if mailed.allowed else f"{mailed.reason or ''}."


def answer(asked):
    if asked.kind == "question":
        return "late"
    return {"allow": True, "input": {"amount": 4}} if asked.tool == "pay" else {"allow": False, "reason": "not today"}


@agent
def at_once(ctx):
    one, two, three = ctx.parallel(
        lambda: ctx.ask("One?"),
        lambda: ctx.ask("Two?", options=["2"]),
        lambda: ctx.step("three", lambda: 3),
    )
    return f"{one} {two} {three}"


def too_far():
    raise RangeError("too far")


@agent
def error(ctx):
    try:
        ctx.step("fail", too_far)
    except InDoubt:
        return "in doubt"
    except StepFailed as failed:
        return f"{failed.reason}: {failed}"


@agent
def scopes(ctx):
    def count(name):
        one = ctx.step("count", lambda: len(name))
        return one + ctx.step("count", lambda: 10)

    totals = ctx.parallel(
        lambda: ctx.scope("a", lambda: count("a")),
        lambda: ctx.scope("b", lambda: count("b")),
    )
    return " ".join(str(total) for total in totals)


@agent
def progress(ctx):
    at = (ctx.saved or {"at": 0})["at"]
    while at < 3:
        value = ctx.step("add", lambda: at)
        ctx.state["sum"] = ctx.state.get("sum", 0) + value
        ctx.say(f"{at} ")
        at += 1
        ctx.save({"at": at})
    return f"= {ctx.state.get('sum', 0)}"


def words():
    for word in ["some ", "words "]:
        later()
        yield word


@agent
def stream(ctx):
    whole = ctx.stream("model", words)
    ctx.usage(model="m", input_tokens=3, output_tokens=4)
    ctx.event("counted", {"characters": len(whole)})
    ctx.step("effect", lambda: None)
    return f"({len(whole)})"


def amount_of(input):
    return input["amount"]


RULES = [
    {"name": "small-refunds", "tools": ["refund"], "when": [{"path": "/amount", "lte": 50}], "effect": "allow"},
    {
        "name": "no-production",
        "tools": ["db/*"],
        "when": [{"path": "/database", "like": "prod*"}],
        "effect": "deny",
        "reason": "Read-only.",
    },
]


def decision(asked):
    if asked.input == {"amount": 80}:
        return {"allow": True, "input": {"amount": 70}}
    return {"allow": False, "reason": "not today"}


@agent
def rules(ctx):
    def refund(amount):
        return ctx.step("refund", amount_of, input={"amount": amount})

    def denied(body):
        try:
            return body()
        except Denied as error:
            return error.reason

    ctx.say(f"{refund(20)} {refund(80)} ")
    ctx.say(f"{denied(lambda: refund(90))} ")
    dropped = denied(lambda: ctx.step("db/drop", lambda: "dropped", input={"database": "prod-1"}))
    ctx.say(f"{dropped} ")
    approved = ctx.approve("db/drop", {"database": "prod-2"}, lambda: "dropped")
    ctx.step("db/drop", lambda: "dropped", input={"database": "test"})
    return "dropped" if approved.allowed else approved.reason


def unmixed(text):
    """Fails where texts of two steps are mixed."""
    assert re.fullmatch(r"(x0 x1 x2 x3 |y0 |z0 z1 ){3}end", text), text


#: name: program, options of every_kill, what holds for every text that is whole
zoo = {
    "a loop whose steps have one name": (loop, {"prompt": "one three eleven"}, None),
    "branches that end in another order than they began": (
        branches,
        {"comparable": lambda text: "\n".join(sorted(text.split("\n")))},
        None,
    ),
    "steps that speak at once": (
        speakers,
        {"comparable": lambda text: " ".join(sorted(text.split(" ")))},
        unmixed,
    ),
    "a question, an approval and a denial": (questions, {"answer": answer}, None),
    "two questions at once beside a step": (at_once, {}, None),
    "an error that is caught": (error, {}, None),
    "scopes that run at once": (scopes, {}, None),
    "progress of a long loop": (progress, {}, None),
    "a stream, usage and events": (stream, {}, None),
    "steps that rules allow, ask about and deny": (
        rules,
        {"rules": RULES, "approval_required_tools": ["ref*"], "answer": decision},
        None,
    ),
}
