"""What a function that calls other agents may do, and what its author is told: as packages/agent/test/calls.test.ts."""

import itertools
import json
import unittest

from convoke_agent import agent
from convoke_agent.testing import every_kill, rehearse

from calls_zoo import text_of

MISTAKES = {
    "a text": (
        lambda ctx: ctx.call("x", "chairs"),
        'call "x": the input must be a dict, such as {"prompt": "Go."}',
    ),
    "a name that no agent has": (
        lambda ctx: ctx.call("The Critic", {}),
        'The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-", and "The Critic" is not.',
    ),
    "no name": (
        lambda ctx: ctx.call(None, {}),
        'The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-", and None is not.',
    ),
    "a value that is not JSON": (
        lambda ctx: ctx.call("x", {"prompt": {1, 2}}),
        "the input of a call.prompt is a set, which JSON cannot represent. Use a list.",
    ),
    "another ceiling": (
        lambda ctx: ctx.call("x", {}, budget={"maxTokens": 5}),
        'call "x": a budget has max_tokens and max_cost, and not "maxTokens"',
    ),
    "a ceiling that nothing stays below": (
        lambda ctx: ctx.call("x", {}, budget={"max_cost": 0.5}),
        'call "x": max_cost must be a whole number, at least 1',
    ),
    "no duration": (
        lambda ctx: ctx.call("x", {}, timeout=5),
        'call "x": 5 is not a duration: use 90s, 15m, 2h, 3d or 2w',
    ),
    "inside a step": (
        lambda ctx: ctx.step("work", lambda: ctx.call("x", {})),
        'step "work": ctx.call() was called inside step "work". Wait first, then start the step.',
    ),
}


def calls(prompt):
    return agent(lambda ctx: text_of(ctx.call("researcher", {"prompt": prompt})))


class Calls(unittest.TestCase):
    def test_the_author_is_told_what_to_do(self):
        for name, (body, message) in MISTAKES.items():
            with self.subTest(name):

                @agent
                def program(ctx, body=body):
                    body(ctx)

                result = rehearse(program)
                self.assertEqual([result.outcome, result.message], ["error", message])

    def test_a_call_that_is_not_awaited_is_named(self):
        @agent
        async def program(ctx):
            ctx.call("researcher", {})

        result = rehearse(program)
        self.assertEqual([result.outcome, result.started], ["error", []])
        self.assertRegex(result.message or "", r'ctx\.call\(.*researcher.*test_calls\.py')

    def test_a_person_may_replace_the_input_that_is_called_with(self):
        @agent
        def program(ctx):
            found = ctx.call("researcher", {"prompt": "x"}, budget={"max_tokens": 5})
            return json.dumps(found.output)

        result = rehearse(
            program,
            approval_required_tools=["call_*"],
            answer=lambda asked: {"allow": True, "input": {"prompt": "tables"}},
            called=lambda call: {"ok": True, "text": "", "output": call.input},
        )
        self.assertEqual([[asked.tool, asked.input] for asked in result.asked], [["call_researcher", {"prompt": "x"}]])
        self.assertEqual([vars(call) for call in result.started], [{"agent": "researcher", "input": {"prompt": "tables"}}])
        self.assertEqual(result.messages[0][0]["budget"], {"max_tokens": 5})
        self.assertEqual(result.text, '{"prompt": "tables"}')

    def test_an_input_that_differs_in_every_leg_would_call_for_ever_so_the_author_is_told(self):
        times = itertools.count(1)

        @agent
        def restless(ctx):
            return text_of(ctx.call("researcher", {"prompt": f"at {next(times)}"}))

        result = rehearse(restless)
        self.assertEqual([result.outcome, len(result.started)], ["error", 1])
        self.assertRegex(
            result.message or "",
            r'^What a call is given must be the same in every leg: the run has called "call researcher \S+", and now calls '
            r'"researcher" with another input\. Take what differs, such as a time, from a step\.$',
        )

    def test_every_kill_tells_of_an_agent_that_is_called_more_often(self):
        legs = itertools.count(1)

        @agent
        def program(ctx):
            if next(legs) > 2:
                return text_of(ctx.call("researcher", {"prompt": "once more"}))
            return text_of(ctx.call("critic", {"prompt": "x"}))

        with self.assertRaisesRegex(AssertionError, '"researcher" was called 1 times instead of 0'):
            every_kill(lambda: program)

    def test_of_an_agent_that_was_edited_a_person_decides(self):
        for answer, outcome, started in (("Continue", "completed", 2), ("End the run", "error", 1)):
            with self.subTest(answer):
                result = rehearse(calls("x"), edited=calls("y"), answer=lambda asked: answer)
                self.assertEqual(
                    [result.outcome, [asked.kind for asked in result.asked], len(result.started)],
                    [outcome, ["question"], started],
                )

    def test_a_new_call_beside_one_that_is_asked_for_later_is_no_doubt(self):
        def known(ctx):
            ctx.step("s", lambda: 1)
            return text_of(ctx.call("researcher", {"prompt": "x"}))

        @agent
        def program(ctx):
            return known(ctx)

        @agent
        def edited(ctx):
            return " ".join(ctx.parallel(lambda: text_of(ctx.call("critic", {})), lambda: known(ctx)))

        result = rehearse(program, edited=edited)
        self.assertEqual([result.text, result.asked, len(result.started)], ["done done", [], 2])
