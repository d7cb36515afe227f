# Makes the system calls that are given as JSON and prints how each ended: 0, or the number of its error.
import ctypes
import json
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
endings = {}
for name, (number, *arguments) in json.loads(sys.argv[1]).items():
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(value) for value in arguments], *[ctypes.c_long(0)] * (6 - len(arguments)))
    if result == 0 and name == 'clone with a user namespace':
        # Either the child of a call that should have failed, or its parent: there is only one line of output.
        os._exit(1)
    endings[name] = ctypes.get_errno() if result == -1 else 0
print(json.dumps(endings))
