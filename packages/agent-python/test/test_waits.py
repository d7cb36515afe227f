"""What the author of a function that waits is told, and what a rehearsal of it says: as packages/agent/test/waits.test.ts."""

import unittest
from datetime import datetime, timedelta, timezone

from convoke_agent import agent
from convoke_agent.testing import _play, every_kill, rehearse

import waits_zoo

FORBIDDEN = (
    'The name of a message must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", and "has paid" is not.'
)

MISTAKES = {
    "words": (
        lambda ctx: ctx.sleep("x", "3 fortnights"),
        'sleep "x": "3 fortnights" is not a duration: use 90s, 15m, 2h, 3d or 2w',
    ),
    "a number": (
        lambda ctx: ctx.receive("x", timeout=12),
        'receive "x": 12 is not a duration: use 90s, 15m, 2h, 3d or 2w',
    ),
    "too long": (lambda ctx: ctx.sleep("x", "53w"), 'sleep "x": a wait takes at most 366 days'),
    "too late": (
        lambda ctx: ctx.sleep("x", datetime.now(timezone.utc) + timedelta(days=400)),
        'sleep "x": a wait takes at most 366 days',
    ),
    "a time without a zone": (
        lambda ctx: ctx.sleep("x", datetime(2030, 1, 1)),
        'sleep "x": the datetime has no time zone: use datetime.now(timezone.utc) and the like',
    ),
    "a name that no message has": (lambda ctx: ctx.receive("has paid"), FORBIDDEN),
    "a callback for no message": (lambda ctx: ctx.callback_url("has paid"), FORBIDDEN),
    "a callback inside a step": (
        lambda ctx: ctx.step("work", lambda: ctx.callback_url("paid")),
        'step "work": ctx.callback_url() was called inside step "work". Make the URL first, then start the step.',
    ),
    "inside a step": (
        lambda ctx: ctx.step("work", lambda: ctx.sleep("x", "1h")),
        'step "work": ctx.sleep() was called inside step "work". Wait first, then start the step.',
    ),
}


class Waits(unittest.TestCase):
    def test_the_author_is_told_what_to_do(self):
        for name, (body, message) in MISTAKES.items():
            with self.subTest(name):

                @agent
                def program(ctx, body=body):
                    body(ctx)

                result = rehearse(program)
                self.assertEqual([result.outcome, result.message], ["error", message])

    def test_a_message_comes_from_message_and_a_time_without_one_is_over(self):
        @agent
        def program(ctx):
            first = ctx.receive("paid", timeout="1h")
            second = ctx.receive("other", timeout="1h")
            return f"{first.data} {second.timed_out}"

        result = rehearse(program, message=lambda name: 5 if name == "paid" else None)
        self.assertEqual(result.text, "5 True")
        self.assertEqual(
            [vars(wait) for wait in result.waits],
            [
                {"kind": "signal", "name": "paid", "outcome": "received"},
                {"kind": "signal", "name": "other", "outcome": "timed_out"},
            ],
        )

    def test_a_date_in_the_past_is_due_at_once(self):
        @agent
        async def program(ctx):
            await ctx.sleep("until", datetime.fromtimestamp(0, timezone.utc))

        result = rehearse(program)
        self.assertEqual([result.outcome, result.elapsed], ["completed", 0])

    def test_a_step_that_was_held_back_continues_beside_a_question_that_is_open(self):
        """The server asks for the run when its timer has fired: a leg that ended as waiting would wait for ever."""
        result = every_kill(lambda: waits_zoo.deadline, answer=lambda asked: {"later": True})
        self.assertEqual(result.text, "no answer in time")

    def test_what_came_first_wins_although_all_of_it_has_come_before_the_leg(self):
        result = _play(waits_zoo.race, {}, come="all")
        self.assertEqual(result.text, "fast")

    def test_a_person_who_answers_later_and_nothing_else_to_wait_for_is_a_mistake_of_the_rehearsal(self):
        @agent
        def program(ctx):
            ctx.ask("When?")

        with self.assertRaisesRegex(RuntimeError, "The run waits for a person who answers later"):
            rehearse(program, answer=lambda asked: {"later": True})
