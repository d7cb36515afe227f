"""Tools that a framework calls, which does what its model says."""

import asyncio
import inspect
import unittest

from convoke_agent import agent
from convoke_agent.testing import every_kill, rehearse


class Tools(unittest.TestCase):
    @staticmethod
    def refund(order: int, note: str = "none") -> str:
        """Refund an order."""
        return f"refunded {order} ({note})"

    def test_a_tool_looks_like_its_function(self):
        @agent
        def program(ctx):
            tool = ctx.tool(Tools.refund, approval=True)
            return f"{tool.__name__} {inspect.signature(tool)} {tool.__doc__} {tool.__annotations__['order']}"

        self.assertEqual(
            rehearse(program).text,
            "refund (order: int, note: str = 'none') -> str Refund an order. <class 'int'>",
        )

    def test_each_call_of_a_model_is_a_step_or_needs_an_approval(self):
        @agent
        def program(ctx):
            tools = {"look": ctx.tool(lambda_named("look")), "refund": ctx.tool(Tools.refund, approval=True)}
            for name, arguments in ctx.step("model", lambda: [["look", {"order": 7}], ["refund", {"order": 7}]] * 2):
                ctx.say(f"{tools[name](**arguments)}; ")

        def answer(asked):
            return {"allow": True, "input": {**asked.input, "note": "edited"}}

        result = every_kill(lambda: program, answer=answer)
        self.assertEqual(result.text, "look 7; refunded 7 (edited); " * 2)
        self.assertEqual([asked.input for asked in result.asked], [{"order": 7}] * 2)
        self.assertIn("not allowed: no", rehearse(program, answer=lambda asked: {"allow": False, "reason": "no"}).text)

    def test_calls_that_a_model_makes_at_once_may_be_equal(self):
        @agent
        async def program(ctx):
            look = ctx.tool(lambda_named("look"))
            return ", ".join(await asyncio.gather(look(1), look(2), look(order=1)))

        self.assertEqual(every_kill(lambda: program).text, "look 1, look 2, look 1")

    def test_a_model_calls_other_agents_once_whenever_the_process_is_lost(self):
        @agent
        def program(ctx):
            ask = ctx.agent_tool("researcher", description="Finds things out.", timeout="1h")
            asked = ctx.step("model", lambda: ["chairs", "tables"])
            answers = ctx.parallel(*[lambda prompt=prompt: ask(prompt=prompt) for prompt in asked])
            return f"{ask.__name__}{inspect.signature(ask)} {ask.__doc__} {answers}"

        @agent
        async def awaited(ctx):
            ask = ctx.agent_tool("researcher", description="Finds things out.", timeout="1h")
            asked = await ctx.step("model", lambda: ["chairs", "tables"])
            answers = list(await asyncio.gather(*[ask(prompt) for prompt in asked]))
            return f"{ask.__name__}{inspect.signature(ask)} {ask.__doc__} {answers}"

        def called(call):
            if call.input["prompt"] == "chairs":
                return "oak"
            return {"ok": False, "code": "model_error", "message": "It is down."}

        for make in (program, awaited):
            with self.subTest(make.__name__):
                result = every_kill(lambda make=make: make, called=called)
                self.assertEqual(
                    result.text,
                    "call_researcher(prompt: str) -> str Finds things out. ['oak', 'model_error: It is down.']",
                )
                self.assertEqual(len(result.started), 2)

    def test_a_model_sleeps_once_whenever_the_process_is_lost(self):
        said = [
            {"duration": "3d", "reason": "The parcel > > of order #7 "},
            {"duration": "1h", "reason": "same"},
            {"duration": "2h", "reason": "same"},
            {"duration": "1h", "reason": "\n"},
            *[{"duration": wrong, "reason": "x"} for wrong in ("31d", "0s", "soon", 90)],
        ]

        @agent
        def program(ctx):
            sleep = ctx.sleep_tool()
            asked = ctx.step("model", lambda: said)
            answers = ctx.parallel(*[lambda given=given: sleep(**given) for given in asked])
            return f"{sleep.__name__}{inspect.signature(sleep)} {answers}"

        @agent
        async def awaited(ctx):
            sleep = ctx.sleep_tool()
            asked = await ctx.step("model", lambda: said)
            answers = list(await asyncio.gather(*[sleep(**given) for given in asked]))
            return f"{sleep.__name__}{inspect.signature(sleep)} {answers}"

        refused = '"duration" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.'
        answers = ["The time has passed."] * 4 + [refused] * 4
        for make in (program, awaited):
            with self.subTest(make.__name__):
                result = every_kill(lambda make=make: make)
                self.assertEqual(result.text, f"sleep(duration: str, reason: str) -> str {answers}")
                self.assertEqual(result.elapsed, 3 * 24 * 60 * 60)
                names = sorted(wait.name for wait in result.waits)
                self.assertEqual(names, ["The parcel - - of order no. 7", "a time", "same", "same"])

    def test_a_wait_of_a_model_inside_a_step_ends_the_run(self):
        def tools_of(ctx):
            return {"call": ctx.agent_tool("x", description="Does it."), "sleep": ctx.sleep_tool()}

        given = {"call": ("go",), "sleep": ("3d", "x")}

        def swallowing(name):
            def frame(ctx):
                def work():
                    try:
                        tools_of(ctx)[name](*given[name])
                    except Exception:
                        ctx.say("told to the model")

                ctx.step("loop", work)

            return agent(frame)

        def swallowing_async(name):
            async def frame(ctx):
                async def work():
                    try:
                        await tools_of(ctx)[name](*given[name])
                    except Exception:
                        ctx.say("told to the model")

                await ctx.step("loop", work)

            return agent(frame)

        for name in given:
            for make in (swallowing, swallowing_async):
                with self.subTest(f"{make.__name__} {name}"):
                    result = rehearse(make(name))
                    message = f'ctx.{name}() was called inside step "loop". Wait first, then start the step.'
                    self.assertEqual([result.outcome, result.message, result.text], ["error", message, ""])

    def test_the_longest_sleep_of_a_model_is_30_days(self):
        sleeping = agent(lambda ctx: ctx.sleep_tool()("30d", "x" * 300))
        result = rehearse(sleeping)
        self.assertEqual([result.text, result.elapsed], ["The time has passed.", 30 * 24 * 60 * 60])


def lambda_named(name):
    def look(order):
        return f"{name} {order}"

    look.__name__ = name
    return look


if __name__ == "__main__":
    unittest.main()
