# An agent as code whose prompt is the list of steps to take.
import json
import os
import subprocess

from convoke_agent import Denied, agent


@agent
def main(ctx):
    answer = ""
    for step in json.loads(ctx.prompt):
        if "say" in step:
            ctx.say(step["say"])
        if "ask" in step:
            answer = ctx.ask(step["ask"]["question"], options=step["ask"]["options"]) or ""
        if step.get("sayAnswer"):
            ctx.say(answer)
        if "remember" in step:
            ctx.state["memory"] = [*ctx.state.get("memory", []), step["remember"]]
        if step.get("recall"):
            ctx.say(f"I remember {', '.join(ctx.state.get('memory', []))}")
        if "fail" in step:
            raise RuntimeError(step["fail"])
        if "write" in step and not write(ctx, step["write"]):
            return
        if "work" in step:
            work(ctx, step["work"])


def write(ctx, note):
    def write_file(input):
        os.makedirs(os.path.dirname(input["path"]), exist_ok=True)
        with open(input["path"], "w") as file:
            file.write(input["text"])

    try:
        ctx.step("write_file", write_file, input=note)
        return True
    except Denied:
        return False


def work(ctx, nap):
    worker = subprocess.Popen(["sleep", nap], stdout=subprocess.DEVNULL, start_new_session=True)
    ctx.signal.on_abort(worker.kill)
    ctx.say("working")
    worker.wait()
