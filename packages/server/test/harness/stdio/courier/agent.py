import json, queue, sys, threading, time

def emit(type, **members):
    print(json.dumps({"type": type, **members}), flush=True)

start = json.loads(sys.stdin.readline())
lines = queue.Queue()                        # every later line from the server
threading.Thread(target=lambda: [lines.put(json.loads(line)) for line in sys.stdin], daemon=True).start()
is_yielding = False

def read(wait=False):
    global is_yielding
    line = lines.get(block=wait)
    is_yielding = is_yielding or line["type"] == "yield"
    return line

def begin(call_id, name):
    emit("call_begin", call_id=call_id, tool_name="deliver", tool_input={"to": name}, touches="workspace")
    while read(wait=True)["type"] != "call_begun":
        pass

run = start["run_id"]
known = start["input"].get("calls", {})
state = start["state"] if (start["state"] or {}).get("run") == run else {"run": run, "done": 0}
names = start["input"]["prompt"].split()

while state["done"] < len(names):
    name, call_id = names[state["done"]], f"delivery-{state['done']}"
    call = known.get(call_id)
    if call is None or call["state"] == "again":
        begin(call_id, name)
        with open("delivered.txt", "a") as file:
            file.write(f"{name}\n")
        emit("call_end", call_id=call_id, ok=True, output="delivered")
        emit("message_delta", text=f"Delivered to {name}.\n")
    else:
        emit("message_delta", text=f"{name}: {call.get('note', 'was delivered before')}\n")
    state["done"] += 1
    emit("checkpoint", state=state, recovery=True)
    while not lines.empty():
        read()
    if is_yielding:
        emit("end", outcome="yielded")
        sys.exit()
    time.sleep(0.05)
