"""A call of `ctx` that an `async def` does not await is named when the function returns (D-478)."""

import asyncio
import unittest

from convoke_agent import agent
from convoke_agent.testing import every_kill, rehearse


class Awaited(unittest.TestCase):
    def left_alone(self, program, expected):
        result = rehearse(agent(program))
        self.assertEqual(result.outcome, "error")
        self.assertEqual(result.text, "")
        self.assertRegex(result.message, f"^{expected} was not awaited \\(test_awaited.py:\\d+\\)$")

    def test_a_question_is_named_with_its_line(self):
        async def program(ctx):
            name = ctx.ask("Name?")
            return f"Hello {name}"

        line = program.__code__.co_firstlineno + 1
        result = rehearse(agent(program))
        self.assertEqual(result.message, f'ctx.ask("Name?") was not awaited (test_awaited.py:{line})')
        self.assertEqual(result.asked, [])

    def test_every_call_that_is_to_be_awaited_is_named(self):
        async def scope():
            pass

        async def step(ctx):
            ctx.step("count", lambda: 1)

        async def approve(ctx):
            ctx.approve("pay", {}, lambda input: None)

        async def stream(ctx):
            ctx.stream("tell", ["a"])

        async def ask_many(ctx):
            ctx.ask_many("Which?", options=["a"])

        async def scoped(ctx):
            ctx.scope("inner", scope)

        self.left_alone(step, 'ctx.step\\("count"\\)')
        self.left_alone(approve, 'ctx.approve\\("pay"\\)')
        self.left_alone(stream, 'ctx.stream\\("tell"\\)')
        self.left_alone(ask_many, 'ctx.ask_many\\("Which\\?"\\)')
        self.left_alone(scoped, 'ctx.scope\\("inner"\\)')

    def test_a_task_that_has_not_begun_is_named(self):
        async def program(ctx):
            asyncio.ensure_future(ctx.step("count", lambda: 1))

        self.left_alone(program, 'ctx.step\\("count"\\)')

    def test_an_error_of_the_function_comes_first(self):
        async def program(ctx):
            ctx.ask("Name?")
            raise ValueError("no")

        self.assertEqual(rehearse(agent(program)).message, "ValueError: no")

    def test_what_is_awaited_later_together_or_raced_is_left_alone(self):
        async def program(ctx):
            later = ctx.step("later", lambda: 1, repeatable=True)
            both = await asyncio.gather(
                ctx.step("a", lambda: 2, repeatable=True), ctx.step("b", lambda: 3, repeatable=True)
            )
            racing = [
                asyncio.ensure_future(ctx.step("quick", lambda: 4, repeatable=True)),
                asyncio.ensure_future(ctx.ask("Never answered in this leg?")),
            ]
            await asyncio.wait(racing, return_when=asyncio.FIRST_COMPLETED)
            return f"{await later} {both}"

        self.assertEqual(rehearse(agent(program)).text, "1 [2, 3]")
        self.assertEqual(every_kill(lambda: agent(program)).outcome, "completed")
