"""Prints the public surface of Python modules: what each exports, then the classes and functions that these refer to.

It reads sources and runs nothing of them, and takes signatures as they are written, so every Python prints the same.
Arguments: the folder that contains the package, then the names of its public modules.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign
functions = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """The names of one module: what it defines, and where those come from that it imports."""

    def __init__(self, folder: Path, name: str) -> None:
        parts = folder.joinpath(*name.split("."))
        path = parts / "__init__.py" if parts.is_dir() else parts.with_suffix(".py")
        self.name = name
        self.package = name if parts.is_dir() else name.rpartition(".")[0]
        self.source = path.read_text(encoding="utf-8")
        # Positions of nodes count bytes.
        self.lines = self.source.encode().splitlines(keepends=True)
        self.defined: dict[str, list[Definition]] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.public: list[str] | None = None
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.ImportFrom):
                self._import(node)
        for node in ast.parse(self.source).body:
            self._define(node)

    def _import(self, node: ast.ImportFrom) -> None:
        package = self.package.split(".")
        above = package[: len(package) - node.level + 1] if node.level else []
        origin = ".".join([*above, *([node.module] if node.module else [])])
        for name in node.names:
            self.imported[name.asname or name.name] = (origin, name.name)

    def _define(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.ClassDef, *functions)):
            self.defined.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.defined[node.target.id] = [node]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            self.defined[name] = [node]
            if name == "__all__":
                self.public = ast.literal_eval(node.value)

    def exports(self) -> list[str]:
        names = self.public or [name for name in self.defined if not name.startswith("_")]
        return sorted(set(names))

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        first, last = node.lineno - 1, node.end_lineno
        lines = self.lines[first:last]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return one_line(b"".join(lines).decode())

    def head_of(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The text from `def` or `class` to the colon before the body."""
        lines = self.source.splitlines(keepends=True)[node.lineno - 1 : node.body[0].lineno]
        lines[0] = lines[0].lstrip()
        depth = 0
        for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            if token.string == ":" and depth == 0:
                row, column = token.start
                return one_line("".join([*lines[: row - 1], lines[row - 1][:column]]))
        raise ValueError(f"{self.name}: {node.name} has no body")


def one_line(text: str) -> str:
    """Without comments, and with one form of white space, however the formatter breaks the lines."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 2] = lines[token.start[0] - 2][: token.start[1]]
    words = " ".join(" ".join(lines).split())
    for bracket in "([{":
        words = words.replace(f"{bracket} ", bracket)
    for bracket in ")]}":
        words = words.replace(f", {bracket}", bracket).replace(f" {bracket}", bracket)
    return words


class Surface:
    def __init__(self, folder: Path, package: str) -> None:
        self.folder = folder
        self.package = package
        self.modules: dict[str, Module] = {}
        self.found: dict[tuple[str, str], str] = {}

    def module(self, name: str) -> Module:
        if name not in self.modules:
            self.modules[name] = Module(self.folder, name)
        return self.modules[name]

    def add(self, module: Module, name: str) -> None:
        if name in module.imported:
            origin, own = module.imported[name]
            if origin.split(".")[0] == self.package and not self.is_module(origin, own):
                self.add(self.module(origin), own)
            return
        nodes = module.defined.get(name)
        if nodes is None or (module.name, name) in self.found:
            return
        self.found[module.name, name] = ""
        self.found[module.name, name] = "\n".join(self.describe(module, node) for node in nodes)

    def is_module(self, origin: str, name: str) -> bool:
        path = self.folder.joinpath(*origin.split("."), name)
        return path.is_dir() or path.with_suffix(".py").is_file()

    def describe(self, module: Module, node: Definition) -> str:
        if isinstance(node, functions):
            self.refer(module, [node.args, node.returns])
            return module.head_of(node)
        if not isinstance(node, ast.ClassDef):
            self.refer(module, [node])
            return module.text_of(node)
        self.refer(module, [*node.bases, *node.keywords])
        lines = [*(f"@{module.text_of(one)}" for one in node.decorator_list), module.head_of(node)]
        return "\n".join([*lines, *(f"    {line}" for line in self.members(module, node))])

    def members(self, module: Module, node: ast.ClassDef) -> list[str]:
        lines: list[str] = []
        for member in node.body:
            if isinstance(member, functions) and member.name == "__init__":
                lines += [module.head_of(member), *self.attributes(module, member)]
            elif isinstance(member, functions) and is_public(member.name):
                lines += [f"@{module.text_of(one)}" for one in member.decorator_list]
                lines.append(module.head_of(member))
                self.refer(module, [member.args, member.returns])
            elif isinstance(member, ast.AnnAssign) and is_public(module.text_of(member.target)):
                lines.append(module.text_of(member))
                self.refer(module, [member.annotation])
        return lines

    def attributes(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
        """What the constructor sets, with its type where that is written."""
        lines: list[str] = []
        for one in ast.walk(node):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
            for target in [part for one_target in targets for part in getattr(one_target, "elts", [one_target])]:
                text = module.text_of(target)
                if text.startswith("self.") and is_public(text.removeprefix("self.")):
                    typed = f": {module.text_of(one.annotation)}" if isinstance(one, ast.AnnAssign) else ""
                    lines.append(f"{text}{typed}")
        return lines

    def refer(self, module: Module, nodes: list[ast.AST | None]) -> None:
        for node in nodes:
            for name in ast.walk(node) if node is not None else []:
                if isinstance(name, ast.Name):
                    self.add(module, name.id)
                elif isinstance(name, ast.Constant) and isinstance(name.value, str):
                    self.add(module, name.value)


def is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def main(folder: str, *names: str) -> None:
    surface = Surface(Path(folder), names[0].split(".")[0])
    for name in names:
        module = surface.module(name)
        print(f"# {name}", *module.exports(), sep="\n", end="\n\n")
        for exported in module.exports():
            surface.add(module, exported)
    for origin in sorted({origin for origin, _ in surface.found}):
        texts = [surface.found[key] for key in sorted(surface.found) if key[0] == origin]
        print(f"# {origin}", *texts, sep="\n\n", end="\n\n")


main(*sys.argv[1:])
