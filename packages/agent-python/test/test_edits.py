"""An agent that its author edits while one of its runs waits for an answer (D-174)."""

import unittest

from convoke_agent import agent
from convoke_agent.testing import every_kill, rehearse


@agent
def original(ctx):
    order = ctx.step("find order", lambda: 7, repeatable=True)
    ctx.step("reserve", lambda: "reserved")
    ctx.ask("Why?")
    ctx.step("pay", lambda: "paid")
    return f"Paid for {order}."


@agent
def reordered(ctx):
    ctx.step("reserve", lambda: "reserved")
    order = ctx.step("find order", lambda: 7, repeatable=True)
    ctx.step("log", lambda: "logged", repeatable=True)
    ctx.ask("Why?")
    ctx.step("pay", lambda: "paid")
    return f"Order {order} is paid."


@agent
def renamed(ctx):
    ctx.step("find order", lambda: 7, repeatable=True)
    ctx.ask("Why?")
    ctx.step("hold", lambda: "reserved")
    return "Held."


def edit(edited, reply):
    def answer(asked):
        return reply if reply in asked.options else "because"

    result = rehearse(original, edited=edited, answer=answer)
    left = [event["data"]["left_over"] for event in result.events if event["name"] == "replay_differs"]
    return result, [call.name for call in result.calls], left


class Edits(unittest.TestCase):
    def test_other_wording_another_order_and_a_new_step_repeat_nothing(self):
        result, steps, left = edit(reordered, "")
        self.assertEqual((result.text, left), ("Order 7 is paid.", []))
        self.assertEqual(sorted(steps), ["find order", "log", "pay", "reserve"])

    def test_before_an_effect_under_a_new_name_a_person_is_asked_and_may_end_the_run(self):
        result, steps, _ = edit(renamed, "End the run")
        self.assertEqual((result.outcome, steps), ("error", ["find order", "reserve"]))
        self.assertIn("edited", result.message)
        self.assertRegex(result.asked[-1].question, 'has not asked for the results of "reserve".*start "hold"')

    def test_a_person_who_lets_it_continue_has_the_step_carried_out(self):
        result, steps, left = edit(renamed, "Continue")
        self.assertEqual((result.text, left), ("Held.", [["reserve"]]))
        self.assertEqual(steps, ["find order", "reserve", "hold"])

    def test_a_replay_that_takes_another_way_fails_the_rehearsal(self):
        ways = iter("abcdefghijklmnopqrstuvwxyz" * 10)

        @agent
        def program(ctx):
            ctx.step(f"way {next(ways)}", lambda: 1, repeatable=True)
            ctx.ask("Why?")
            ctx.step("pay", lambda: "paid")

        with self.assertRaisesRegex(AssertionError, "the replay did not ask for the results of"):
            every_kill(lambda: program)


if __name__ == "__main__":
    unittest.main()
