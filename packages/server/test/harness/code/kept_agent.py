# As kept-agent.ts: each answer begins with the name of the process, and how many legs it had.
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

from convoke_agent import agent

name = uuid.uuid4().hex
legs = 0


def work_on():
    while True:
        with open("ticks", "a") as ticks:
            ticks.write(".")
        time.sleep(0.001)


@agent
def main(ctx):
    global legs
    legs += 1
    # Before it has said anything.
    if ctx.prompt == "die in the second leg" and legs == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    ctx.state["runs"] = ctx.state.get("runs", 0) + 1
    ctx.say(f"{name} leg {legs} run {ctx.state['runs']}")
    if ctx.prompt == "fail":
        raise RuntimeError("on purpose")
    if ctx.prompt == "complain":
        print("something of this leg", file=sys.stderr)
        os.chdir("/tmp")
    if ctx.prompt == "leave a process":
        subprocess.Popen(["sleep", "8082"], start_new_session=True)
    if ctx.prompt == "write after the end":
        os.write(3, b'{"type":"end"}\n{"type":"custom","name":"late"}\n')
    if ctx.prompt == "work on":
        # A program that leaves its process group is stopped anyway.
        os.setpgid(0, 0)
        threading.Thread(target=work_on, daemon=True).start()
    if ctx.prompt == "work":
        ctx.signal.wait()
        ctx.say("")
    if ctx.prompt == "folder":
        ctx.say(f" in {os.getcwd()}")
    if ctx.prompt == "ask":
        ctx.say(f" {ctx.ask('Why?')}")
    if ctx.prompt == "secret":
        ctx.say(f" {os.environ['PASSPHRASE'] == os.environ['EXPECTED']}".lower())
