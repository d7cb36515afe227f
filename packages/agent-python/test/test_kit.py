"""What the kit promises to a program beyond the zoo, as `def` and as `async def`."""

import asyncio
import threading
import unittest

from convoke_agent import Denied, InDoubt, Misuse, StepFailed, agent
from convoke_agent.testing import every_kill, rehearse


class Results(unittest.TestCase):
    def refused(self, value, expected):
        @agent
        def program(ctx):
            ctx.step("find", lambda: value)

        result = rehearse(program)
        self.assertEqual(result.outcome, "error")
        self.assertIn(expected, result.message)

    def test_what_json_would_change_is_refused_by_its_place(self):
        self.refused({"a": [1, (2, 3)]}, 'step "find": result.a[1] is a tuple, which JSON cannot represent. Return a list.')
        self.refused({"a": {1: 2}}, "result.a has a key that is an int. Use strings as keys.")
        self.refused({"a": float("nan")}, "result.a is nan, which JSON cannot represent. Return None or a string.")
        self.refused(b"x", "result is a bytes, which JSON cannot represent. Return a string, or write a file")
        self.refused(object(), "result is an object, which JSON cannot represent. Return a dict.")
        self.refused("é" * 140_000, "KiB; the limit is 256 KiB. Write a file and return its name.")
        circle = []
        circle.append(circle)
        self.refused(circle, "result[0] contains itself, which JSON cannot represent.")

    def test_the_first_result_is_a_copy_as_later_ones_are(self):
        kept = {"list": [1.0, 2**60]}

        @agent
        def program(ctx):
            result = ctx.step("find", lambda: kept)
            result["list"].append("mine")
            ctx.ask("Why?")
            return f"{result} {len(kept['list'])}"

        self.assertEqual(rehearse(program).text, "{'list': [1.0, 1152921504606846976, 'mine']} 2")

    def test_what_an_agent_returns_is_its_output(self):
        @agent
        def program(ctx):
            team = ctx.step("sort", lambda: "billing", repeatable=True)
            ctx.say("Sorted.")
            return {"team": team, "share": 1.0}

        result = every_kill(lambda: program)
        self.assertEqual((result.text, result.output), ("Sorted.", {"team": "billing", "share": 1}))

        @agent
        def says(ctx):
            return "Done."

        self.assertEqual((rehearse(says).text, rehearse(says).output), ("Done.", None))
        typed = rehearse(says, output_schema={"type": "string"})
        self.assertEqual((typed.text, typed.output), ("", "Done."))

        @agent
        def wrong(ctx):
            return [{"at": (1, 2)}]

        self.assertIn("result[0].at is a tuple, which JSON cannot represent.", rehearse(wrong).message)

    def test_numbers_that_the_server_would_change_are_not_taken(self):
        @agent
        def program(ctx):
            ctx.state["total"] = 2**53 + 1

        result = rehearse(program)
        self.assertIn("which has too many digits. Use a string.", result.message)

        @agent
        def other(ctx):
            ctx.state["total"] = 5.0

        self.assertEqual(repr(rehearse(other).state), "{'total': 5}")

    def test_a_state_of_more_than_4_mib_ends_the_run_and_leaves_the_one_before(self):
        @agent
        def program(ctx):
            ctx.state["notes"] = "x" * 4 * 1024 * 1024

        result = rehearse(program, state={"notes": "short"})
        self.assertEqual(result.message, "ctx.state has 4097 KiB; the limit is 4096 KiB. Write a file and keep its name.")
        self.assertEqual(result.state, {"notes": "short"})


class Functions(unittest.TestCase):
    def test_a_step_gets_what_its_parameters_name(self):
        class Client:
            def send(self, input, *, key):
                return [input["to"], key]

        @agent
        def program(ctx):
            first = ctx.step("mail", Client().send, input={"to": "x"})
            second = ctx.step("mail", lambda signal, key, word="mine": [signal.aborted, key, word])
            third = ctx.step("mail", lambda **given: sorted(given))
            return f"{first} {second} {third}"

        self.assertEqual(
            rehearse(program).text,
            "['x', 'run_1.mail'] [False, 'run_1.mail#2', 'mine'] ['input', 'key', 'signal']",
        )

    def test_a_parameter_that_the_kit_does_not_know_is_refused_before_the_step_begins(self):
        @agent
        def program(ctx):
            ctx.step("mail", lambda order: order)

        result = rehearse(program)
        self.assertIn('the function has an unknown parameter "order"', result.message)
        self.assertEqual(result.calls, [])

    def test_a_step_of_a_def_that_returns_a_coroutine_is_refused(self):
        async def work():
            """Is never awaited."""

        @agent
        def program(ctx):
            coroutine = work()
            try:
                ctx.step("mail", lambda: coroutine)
            finally:
                coroutine.close()

        self.assertIn("write the agent as async def", rehearse(program).message)


class Waiting(unittest.TestCase):
    def test_except_exception_does_not_swallow_a_question_and_finally_runs(self):
        seen = []

        @agent
        def program(ctx):
            try:
                return ctx.ask("Why?")
            except Exception:
                seen.append("swallowed")
            finally:
                seen.append("cleaned up")

        self.assertEqual(rehearse(program).text, "yes")
        self.assertEqual(seen, ["cleaned up", "cleaned up"])

    def test_a_bare_except_gets_no_further(self):
        @agent
        def program(ctx):
            try:
                return ctx.ask("Why?")
            except BaseException as error:
                raised = error
            ctx.say(f"not said {raised}")

        result = rehearse(program)
        self.assertEqual((result.outcome, result.text), ("completed", "yes"))

    def test_a_question_that_is_declined_is_none(self):
        @agent
        def program(ctx):
            return f"{ctx.ask('Why?')} {ctx.ask_many('Which?', options=['a', {'label': 'b'}])}"

        replies = {"Why?": None, "Which?": ["a", "b"]}
        result = rehearse(program, answer=lambda asked: replies[asked.question])
        self.assertEqual(result.text, "None ['a', 'b']")

    def test_a_step_on_the_operators_list_is_requested(self):
        @agent
        def program(ctx):
            try:
                return ctx.step("pay 7", lambda input: f"paid {input['sum']}", input={"sum": 5})
            except Denied as denied:
                return f"{denied.step}: {denied}"

        options = {"approval_required_tools": ["pay *"]}
        no = rehearse(program, answer=lambda asked: {"allow": False, "reason": "too much"}, **options)
        self.assertEqual((no.text, [call.name for call in no.calls]), ("pay 7: too much", []))
        yes = every_kill(lambda: program, answer=lambda asked: {"allow": True, "input": {"sum": 4}}, **options)
        self.assertEqual(yes.text, "paid 4")


class Branches(unittest.TestCase):
    def test_results_keep_their_order_and_the_first_error_is_raised_when_all_have_ended(self):
        @agent
        def program(ctx):
            ended = []

            def branch(name):
                ctx.step(name, lambda: None if name == "b" else 1 / 0)
                ended.append(name)
                return name

            try:
                ctx.parallel(lambda: branch("b"), lambda: branch("a"))
            except StepFailed as failed:
                return f"{failed.step}: {failed.reason} {ended} {ctx.parallel()}"

        self.assertEqual(rehearse(program).text, "a: ZeroDivisionError ['b'] []")

    def test_steps_of_branches_run_at_the_same_time(self):
        @agent
        def program(ctx):
            barrier = threading.Barrier(3)
            ctx.parallel(*(lambda name=name: ctx.step(name, lambda: barrier.wait(30) and None) for name in "abc"))
            return "met"

        self.assertEqual(rehearse(program).text, "met")

    def test_only_one_branch_runs_between_steps(self):
        @agent
        def program(ctx):
            count = 0

            def branch(name):
                nonlocal count
                for _ in range(20):
                    seen = count
                    threading.Event().wait(0.0001)
                    count = seen + 1
                    ctx.step(name, lambda: None, repeatable=True)

            ctx.parallel(lambda: branch("a"), lambda: branch("b"), lambda: branch("c"))
            return str(count)

        self.assertEqual(rehearse(program).text, "60")

    def test_another_thread_is_refused(self):
        @agent
        def program(ctx):
            raised = []

            def use():
                for call in (lambda: ctx.say("x"), lambda: ctx.step("a", lambda: 1), lambda: ctx.save(1)):
                    try:
                        call()
                    except Misuse as error:
                        raised.append(str(error))

            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            return f"{len(raised)} {raised[0][:17]}"

        self.assertEqual(rehearse(program).text, "3 ctx was used in a")

    def test_a_task_that_is_cancelled_ends_its_step(self):
        @agent
        async def program(ctx):
            begun = asyncio.Event()

            async def work():
                begun.set()
                await asyncio.Event().wait()

            step = asyncio.ensure_future(ctx.step("slow", work))
            await asyncio.wait({step, asyncio.ensure_future(begun.wait())}, return_when=asyncio.FIRST_COMPLETED)
            step.cancel()
            try:
                await step
            except asyncio.CancelledError:
                ctx.say("cancelled, ")
            except StepFailed as failed:
                ctx.say(f"not again: {failed.reason}")
            await ctx.ask("Why?")

        result = rehearse(program)
        self.assertEqual([call.name for call in result.calls], ["slow"])
        self.assertEqual(result.text, "cancelled, ")
        self.assertEqual([leg[-1]["outcome"] for leg in result.messages], ["waiting", "completed"])

    def test_a_loop_that_never_rests_gets_its_results(self):
        @agent
        async def program(ctx):
            step = asyncio.ensure_future(ctx.step("count", lambda: 7))
            while not step.done():
                await asyncio.sleep(0)
            return str(step.result())

        self.assertEqual(rehearse(program).text, "7")


class Emptiness(unittest.TestCase):
    early = "The process ended before the agent function returned."

    def test_a_function_that_waits_for_nothing_ends_its_run(self):
        @agent
        async def program(ctx):
            await ctx.step("read", lambda: 1)
            ctx.say("on the way")
            await asyncio.get_running_loop().create_future()

        result = rehearse(program)
        self.assertEqual([result.outcome, result.message, result.text], ["error", self.early, "on the way"])

    def test_so_does_a_step_that_waits_for_nothing_beside_an_open_question(self):
        @agent
        async def program(ctx):
            await asyncio.gather(ctx.ask("Why?"), ctx.step("slow", asyncio.Event().wait))

        self.assertEqual(rehearse(program).message, self.early)

    def test_a_thread_may_still_wake_it(self):
        @agent
        async def program(ctx):
            loop, gate = asyncio.get_running_loop(), threading.Event()
            woken = loop.create_future()

            def wake():
                gate.wait()
                loop.call_soon_threadsafe(woken.set_result, "woken")

            threading.Thread(target=wake).start()
            loop.call_soon(gate.set)
            text = await woken
            return f"{text} {await loop.run_in_executor(None, lambda: 'twice')}"

        self.assertEqual(rehearse(program).text, "woken twice")

    def test_an_idle_thread_of_the_executor_does_not(self):
        @agent
        async def program(ctx):
            await asyncio.get_running_loop().run_in_executor(None, lambda: 1)
            await asyncio.Event().wait()

        self.assertEqual(rehearse(program).message, self.early)

    def test_neither_a_descriptor_nor_a_timer_counts_as_nothing(self):
        @agent
        async def program(ctx):
            child = await asyncio.create_subprocess_exec("true")
            return f"{await child.wait()} {await asyncio.sleep(0.01, 'late')}"

        self.assertEqual(rehearse(program).text, "0 late")


class Doubt(unittest.TestCase):
    def test_a_step_that_was_left_raises_what_the_person_said(self):
        notes = []

        @agent
        def program(ctx):
            try:
                ctx.step("pay", lambda: "paid")
            except InDoubt as doubt:
                notes.append(f"{doubt.step}: {doubt}")
            return "end"

        self.assertEqual(every_kill(lambda: program).text, "end")
        self.assertEqual(set(notes), {"pay: Marked as completed."})

    def test_a_person_who_is_asked_again_after_a_loss_is_a_problem(self):
        def make():
            legs = []

            @agent
            def program(ctx):
                legs.append(1)
                # Undisturbed, the second leg has the answer. After a loss the third one asks in another place.
                return ctx.scope("later" if len(legs) > 2 else "first", lambda: ctx.ask("Why?"))

            return program

        with self.assertRaisesRegex(AssertionError, r"a person was asked 2 times instead of 1: .*Why\?"):
            every_kill(make)


if __name__ == "__main__":
    unittest.main()
