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


def lambda_named(name):
    def look(order):
        return f"{name} {order}"

    look.__name__ = name
    return look


if __name__ == "__main__":
    unittest.main()
