/** A mistake of an author that shows while the agent runs, in each language that can make it. */
export interface RunProblem {
  readonly when: string;
  readonly code: 'agent_error' | 'tool_error';
  /** The message of the run's end. A position is `agent.ts:3:18` or `agent.py:5`. */
  readonly message: RegExp;
  readonly typescript?: string;
  readonly python?: string;
  readonly asyncio?: string;
}

const endedEarly = /^The process ended before the agent function returned\.$/;

/** The agent's function has the given body; its first line is line 3 in TypeScript and line 5 in Python. */
export const runProblems: readonly RunProblem[] = [
  {
    when: 'the function throws',
    code: 'agent_error',
    message:
      /^TypeError: .* \((?:agent\.ts:5:\d+|agent\.py:7)\)\. Its error output:\n[^]*on the way$/,
    typescript: "console.error('on the way');\nconst order: any = undefined;\norder.id;",
    python: "print('on the way')\norder = None\norder['id']",
  },
  {
    when: 'an await is forgotten',
    code: 'agent_error',
    message: /^ctx\.ask\("Name\?"\) was not awaited \((?:agent\.ts:3:18|agent\.py:5)\)$/,
    typescript: 'const name = ctx.ask("Name?");\nreturn `Hello ${name}`;',
    asyncio: 'name = ctx.ask("Name?")\nreturn f"Hello {name}"',
  },
  {
    when: 'a step throws and nothing catches it',
    code: 'tool_error',
    message: /^step "mail": SMTP 550$/,
    typescript: "await ctx.step('mail', () => { throw new Error('SMTP 550'); });",
    python: "def mail():\n    raise RuntimeError('SMTP 550')\nctx.step('mail', mail)",
  },
  {
    when: 'a result is not JSON',
    code: 'agent_error',
    message:
      /^step "find": result\.at\[0\] is a [Dd]ate, which JSON cannot represent\. Return a string/,
    typescript: "await ctx.step('find', () => ({ at: [new Date()] }));",
    python: "import datetime\nctx.step('find', lambda: {'at': [datetime.date.today()]})",
  },
  {
    when: 'an input is not JSON',
    code: 'agent_error',
    message:
      /^input\.at is a (?:Date, which JSON cannot represent\. Use a string|tuple, which JSON cannot represent\. Use a list)/,
    typescript: "await ctx.approve('pay', { at: new Date() }, () => 1);",
    python: "ctx.approve('pay', {'at': (1, 2)}, lambda: 1)",
  },
  {
    when: 'the data of an event is not JSON',
    code: 'agent_error',
    message: /^data\.at is a Date, which JSON cannot represent\. Use a string/,
    typescript: "ctx.event('found', { at: new Date() });",
  },
  {
    when: 'the function returns what JSON cannot represent (D-568)',
    code: 'agent_error',
    message: /result\.found\[1\] is a tuple/,
    python: 'return {"found": [1, (2, 3)]}',
  },
  {
    when: 'an event has a name that no event can have',
    code: 'agent_error',
    message: /^"Found it" is not a valid event name\. .* \((?:agent\.ts:3:\d+|agent\.py:5)\)\.$/,
    typescript: "ctx.event('Found it');",
    python: "ctx.event('Found it')",
  },
  {
    when: 'a result is too large',
    code: 'agent_error',
    message:
      /^step "find" returned 30\d KiB; the limit is 256 KiB\. Write a file and return its name/,
    typescript: "await ctx.step('find', () => 'x'.repeat(300 * 1024));",
    python: "ctx.step('find', lambda: 'x' * 300 * 1024)",
  },
  {
    when: 'the results of all its steps are too large',
    code: 'agent_error',
    message: /keep large ones in files/,
    typescript:
      "for (let n = 0; n < 140; n += 1) await ctx.step('read', () => 'x'.repeat(250 * 1024));",
  },
  {
    when: 'two steps of one name run at the same time',
    code: 'agent_error',
    message: /Give them different names/,
    typescript: "await Promise.all([ctx.step('fetch', () => 1), ctx.step('fetch', () => 2)]);",
    python:
      "ctx.parallel(lambda: ctx.step('fetch', lambda: 1), lambda: ctx.step('fetch', lambda: 2))",
  },
  {
    when: 'it asks inside a step',
    code: 'tool_error',
    message: /Ask first, then start the step\./,
    typescript: "await ctx.step('a', () => ctx.ask('Why?'));",
    python: "ctx.step('a', lambda: ctx.ask('Why?'))",
  },
  {
    when: 'it uses ctx in a thread of its own',
    code: 'agent_error',
    message: /Run branches with ctx\.parallel\(\)/,
    python:
      "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(ctx.step, 'a', lambda: 1).result()",
  },
  {
    when: 'it ends its process',
    code: 'agent_error',
    message: /^The process ended before the agent function returned(?: \(agent\.ts:\d+:\d+\))?\./,
    typescript: 'process.exit();',
    python: 'import sys\nsys.exit()',
  },
  {
    when: 'its process ends at once, with code 0',
    code: 'agent_error',
    message: /^The process ended before the agent function returned\./,
    python: 'import os\nos._exit(0)',
  },
  {
    when: 'it waits for nothing',
    code: 'agent_error',
    message: endedEarly,
    typescript: 'await new Promise(() => {});',
    asyncio: 'import asyncio\nawait asyncio.Event().wait()',
  },
  {
    when: 'it waits for nothing after a step',
    code: 'agent_error',
    message: endedEarly,
    typescript: "await ctx.step('read', () => 1);\nawait new Promise(() => {});",
    asyncio: "import asyncio\nawait ctx.step('read', lambda: 1)\nawait asyncio.Event().wait()",
  },
  {
    when: 'it waits for nothing after work in a thread',
    code: 'agent_error',
    message: endedEarly,
    asyncio: 'import asyncio\nawait asyncio.to_thread(lambda: 1)\nawait asyncio.Event().wait()',
  },
  {
    when: 'a step waits for nothing beside an open question',
    code: 'agent_error',
    message: /^The process ended before the agent function returned\./,
    typescript:
      "await Promise.all([ctx.ask('Why?'), ctx.step('slow', () => new Promise(() => {}))]);",
  },
  {
    when: 'an error is thrown where nothing can catch it',
    code: 'agent_error',
    message: /^Error: late \(agent\.ts:3:\d+\)/,
    typescript:
      "setTimeout(() => { throw new Error('late'); });\nawait new Promise(() => setInterval(() => {}, 1000));",
  },
];
