"""Compiles programs and binds their calls of the client to its methods, without sending anything."""

import ast
import inspect
import json
import sys

from convoke_sdk import Convoke, ConvokeAdmin

CLIENTS = {
    "convoke": Convoke(base_url="http://h", token="t", organization_id="o", tenant_id="t"),
    "admin": ConvokeAdmin(base_url="http://h", token="t", organization_id="o"),
}


def resolve(node):
    """The object that an expression means, or None if it is not known without a request."""
    if isinstance(node, ast.Name):
        return CLIENTS.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value)
        return None if owner is None else getattr(owner, node.attr)
    if isinstance(node, ast.Call):
        method = resolve(node.func)
        if method is None:
            return None
        inspect.signature(method).bind(
            *(ast.unparse(one) for one in node.args),
            **{one.arg: ast.unparse(one.value) for one in node.keywords},
        )
        # A handle by its id sends no request.
        return method("id") if node.func.attr == "at" else None
    return None


calls = 0
for text in json.load(sys.stdin):
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    roots = [node for node in found if isinstance(node.func, ast.Attribute)]
    for node in roots:
        calls += resolve(node.func) is not None
        resolve(node)
assert calls > 60, calls
