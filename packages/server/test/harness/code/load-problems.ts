import { type Files, python, typescript } from './authored.ts';

/** A mistake of an author that shows when the server loads the agent. */
export interface LoadProblem {
  readonly of: string;
  readonly files: Files;
  readonly message: RegExp;
}

/** A module that no machine has installed, unlike those that real agents import. */
const absent = 'absent_on_every_machine';

/** A python3 that takes itself for an older one. */
export const oldPython = `#!/bin/sh
while [ "\${1%.py}" = "$1" ]; do shift; done
exec /usr/bin/python3 -c 'import runpy, sys; sys.version_info = (3, 8, 10); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
`;

export const loadProblems: readonly LoadProblem[] = [
  { of: 'a missing file', files: {}, message: /has no file to run: write agent\.ts or agent\.py/ },
  {
    of: 'an entry that does not exist',
    files: { 'agent.yaml': 'framework: code\nentry: x.ts\n' },
    message: /entry/,
  },
  {
    of: 'a package that is not installed',
    files: { 'agent.ts': `import 'ai';\n` },
    message: /^agent\.ts: package "ai" is not installed\. Run npm install in agents\/refunds\.$/,
  },
  {
    of: 'a module that is missing, by its name',
    files: { 'agent.py': `\nimport ${absent}.auth\n` },
    message: new RegExp(
      `^agent\\.py:2: module "${absent}" was not found\\. Install its package into agents/refunds/\\.venv`,
    ),
  },
  {
    of: 'a file that is not there',
    files: { 'agent.ts': `import './src/clients.ts';\n` },
    message: /^agent\.ts imports src\/clients\.ts, which does not exist$/,
  },
  {
    of: 'a module that a file beside it misses',
    files: { 'agent.py': 'import clients\n', 'clients.py': `\n\nimport ${absent}\n` },
    message: new RegExp(`^clients\\.py:3: module "${absent}" was not found`),
  },
  {
    of: 'syntax that needs a build',
    files: { 'agent.ts': '\n\nenum Colour { Red }\n' },
    message: /^agent\.ts:3: "enum" needs a build step, .*\. Use a union, or bundle the agent\.$/,
  },
  {
    of: 'decorators',
    files: { 'agent.ts': 'export {};\nfunction d(_: unknown) {}\n@d\nclass A {}\n' },
    message: /^agent\.ts:3: decorators need a build step/,
  },
  {
    of: 'wrong syntax in TypeScript',
    files: { 'agent.ts': 'const x = ;\n' },
    message: /^agent\.ts:1: SyntaxError: /,
  },
  {
    of: 'wrong syntax in Python',
    files: { 'agent.py': 'x = 1\nx = = 2\n' },
    message: /^agent\.py:2: SyntaxError: /,
  },
  {
    of: 'wrong syntax in a file beside it',
    files: { 'agent.py': 'import clients\n', 'clients.py': 'def f(:\n' },
    message: /^clients\.py:1: SyntaxError: /,
  },
  {
    of: 'wrong indentation',
    files: { 'agent.py': 'if 1:\nx = 2\n' },
    message: /^agent\.py:2: IndentationError: /,
  },
  {
    of: 'a missing default export',
    files: { 'agent.mjs': 'export default () => {};\n' },
    message: /^agent\.mjs must have agent\(…\) as its default export$/,
  },
  {
    of: 'a missing @agent',
    files: { 'agent.py': 'def main(ctx): pass\n' },
    message: /^agent\.py has no function with @agent$/,
  },
  {
    of: 'two agents',
    files: {
      'agent.py': `${python.sourceOf('pass')}\n${python.sourceOf('pass').replace('main', 'other')}`,
    },
    message: /^agent\.py has several functions with @agent \(main, other\)\. Keep one\.$/,
  },
  {
    of: 'a generator',
    files: { 'agent.py': python.sourceOf("yield 'text'") },
    message: /^agent\.py:3: Misuse: A function with @agent must not yield/,
  },
  {
    of: 'an error where the file is loaded, in JavaScript',
    files: { 'agent.js': 'let a;\nexport default a.b;\n' },
    message: /^agent\.js:2:\d+: TypeError: /,
  },
  {
    of: 'an error where the file is loaded, in Python',
    files: { 'agent.py': 'a = None\na.b\n' },
    message: /^agent\.py:2: AttributeError: /,
  },
  {
    of: 'a Node that is too old',
    files: { 'agent.ts': typescript.sourceOf(''), 'package.json': '{"engines":{"node":">=99"}}' },
    message: /^package\.json requires Node >=99, but the server has \d/,
  },
  {
    of: 'a sandbox without Python',
    files: {
      'agent.yaml': 'framework: code\nenv: { PATH: /nowhere }\n',
      'agent.py': python.sourceOf('pass'),
    },
    message: /^The sandbox has no python3\.$/,
  },
  {
    of: 'a Python that is too old',
    files: { 'agent.py': python.sourceOf('pass'), '.venv/bin/python3': oldPython },
    message: /^The sandbox has Python 3\.8\.10, but the kit needs 3\.9 or newer\.$/,
  },
  {
    of: 'a kit that is too old',
    files: {
      'agent.ts': typescript.sourceOf(''),
      'package.json': '{"devDependencies":{"@convoke/agent":"^7.1"}}',
    },
    message:
      /^agents\/refunds requires @convoke\/agent \^7\.1, but this server has \d\S*\. Update the server\.$/,
  },
  {
    of: 'a program in TypeScript that ends while it is loaded',
    files: { 'agent.ts': 'process.exit(3);\n' },
    message: /^The program ended with code 3\./,
  },
  {
    of: 'a program in Python that ends while it is loaded',
    files: { 'agent.py': 'import sys\nsys.exit(3)\n' },
    message: /^agent\.py:2: SystemExit: 3$/,
  },
  {
    of: 'a program that waits for nothing while it is loaded',
    files: { 'agent.ts': `await new Promise(() => {});\n${typescript.sourceOf('')}` },
    message:
      /^agent\.ts ended while it was being loaded: it exits, or waits for something that never happens$/,
  },
];
