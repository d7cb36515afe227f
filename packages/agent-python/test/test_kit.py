"""What the kit promises to a program beyond the zoo, as `def` and as `async def`."""

import asyncio
import threading
import unittest

from convoke_agent import Denied, InDoubt, LegOver, Misuse, RunCancelled, StepFailed, agent
from convoke_agent.context import AsyncContext, Context
from convoke_agent.leg import Leg
from convoke_agent.rehearsal import RehearsedRun
from convoke_agent.tasks import Tasks
from convoke_agent.testing import every_kill, rehearse
from convoke_agent.threads import Threads


class Results(unittest.TestCase):
    def refused(self, value, expected):
        @agent
        def program(ctx):
            ctx.step("find", lambda: value)

        result = rehearse(program)
        self.assertEqual(result.outcome, "error")
        self.assertIn(expected, result.message)

    def test_what_json_would_change_is_refused_by_its_place(self):
        self.refused({"a": [1, (2, 3)]}, 'step "find" returned a tuple at result.a[1]: return a list')
        self.refused({"a": {1: 2}}, "a key that is an int at result.a: use texts as keys")
        self.refused({"a": float("nan")}, "nan at result.a: return None or a text")
        self.refused(b"x", "a bytes at result: return a string, or write a file")
        self.refused(object(), "an object at result: return a dict of its members")
        self.refused("é" * 140_000, "KiB, at most 256: write a file and return its name")
        circle = []
        circle.append(circle)
        self.refused(circle, "an object that contains itself at result[0]")

    def test_the_first_result_is_a_copy_as_later_ones_are(self):
        kept = {"list": [1.0, 2**60]}

        @agent
        def program(ctx):
            result = ctx.step("find", lambda: kept)
            result["list"].append("mine")
            ctx.ask("Why?")
            return f"{result} {len(kept['list'])}"

        self.assertEqual(rehearse(program).text, "{'list': [1.0, 1152921504606846976, 'mine']} 2")

    def test_numbers_that_the_server_would_change_are_not_taken(self):
        @agent
        def program(ctx):
            ctx.state["total"] = 2**53 + 1

        result = rehearse(program)
        self.assertIn("ctx.state.total has too many digits", result.message)

        @agent
        def other(ctx):
            ctx.state["total"] = 5.0

        self.assertEqual(repr(rehearse(other).state), "{'total': 5}")


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
        self.assertIn('its function has a parameter "order"', result.message)
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

        self.assertEqual(rehearse(program).text, "3 ctx is used in a ")

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


class Tools(unittest.TestCase):
    """A framework calls tools; this one does what its model says."""

    @staticmethod
    def refund(order: int, note: str = "none") -> str:
        """Refund an order."""
        return f"refunded {order} ({note})"

    def test_a_tool_looks_like_its_function(self):
        import inspect

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

        self.assertTrue(asyncio.iscoroutinefunction(AsyncContext.step))
        self.assertEqual(every_kill(lambda: program).text, "look 1, look 2, look 1")


def lambda_named(name):
    def look(order):
        return f"{name} {order}"

    look.__name__ = name
    return look


class Cancel(unittest.TestCase):
    """A server that cancels the run when the first step has begun."""

    def cancelled(self, program):
        host = Tasks() if program.is_async else Threads()
        run, sent = RehearsedRun(prompt="go"), []

        def send(message):
            sent.append(message)
            if message["type"] == "call_begin":
                begun = {"type": "call_begun", "call_id": message["call_id"], "idempotency_key": "key"}
                host.later(lambda: leg.receive(begun))

        leg = Leg(run.start(), send, host)
        ctx = (AsyncContext if program.is_async else Context)(leg, host)
        ctx.cancel = lambda: threading.Thread(target=host.tell, args=(lambda: leg.receive({"type": "cancel"}),)).start()
        host.run(leg.perform(lambda: program.body(ctx)))
        if program.is_async:
            host.close()
        return sent[-1], leg

    def test_a_def_learns_of_it_at_its_next_call_and_may_clean_up(self):
        seen = []

        @agent
        def program(ctx):
            ctx.signal.on_abort(lambda: seen.append("listener"))
            try:
                ctx.step("work", lambda signal: (ctx.cancel(), signal.wait(30)) and None)
                while True:
                    ctx.say("x")
            except Exception:
                seen.append("swallowed")
            except RunCancelled:
                seen.append("cleaned up")
                raise

        end, _ = self.cancelled(program)
        self.assertEqual((end["outcome"], sorted(seen)), ("cancelled", ["cleaned up", "listener"]))

    def test_an_async_def_is_cancelled(self):
        seen = []

        @agent
        async def program(ctx):
            try:
                ctx.cancel()
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cleaned up")
                raise

        end, _ = self.cancelled(program)
        self.assertEqual((end["outcome"], seen), ("cancelled", ["cleaned up"]))

    def test_what_waits_for_a_person_is_woken(self):
        @agent
        def program(ctx):
            def cancel():
                ctx.step("work", lambda signal: (ctx.cancel(), signal.wait(30)) and None)

            ctx.parallel(lambda: ctx.ask("Why?"), cancel)

        end, _ = self.cancelled(program)
        self.assertEqual(end["outcome"], "cancelled")

    def test_a_leg_that_is_over_says_no_more(self):
        @agent
        def program(ctx):
            return "done"

        _, leg = self.cancelled(program)
        with self.assertRaises(LegOver):
            leg.guard()


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
        self.assertEqual(set(notes), {"pay: A person says that it was carried out."})


if __name__ == "__main__":
    unittest.main()
