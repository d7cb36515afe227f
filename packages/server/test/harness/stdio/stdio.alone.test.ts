import { readFileSync, readdirSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Json, JsonObject } from '../../../src/domain/json.ts';
import { stdioHarness } from '../../../src/harness/stdio/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { HarnessEvent } from '../../../src/ports/harness.ts';
import {
  agentOf,
  problemsWith,
  recordingLog,
  temporaryFolder,
} from '../../support/agent-folders.ts';
import { type Plan, type Step, adapterSuite } from '../adapter-suite.ts';
import { type OpenStdio, type PlayMore, openStdio, playProgram } from './leg.ts';

const folder = dirname(fileURLToPath(import.meta.url));
/** A sleep of this many seconds identifies the test's own process on the machine. */
const nap = `7071.${process.pid}`;

beforeAll(() => requireSandbox());

adapterSuite('stdio', {
  async open() {
    const { harness, sandbox, close } = await openStdio();
    return { harness, account: sandbox.account, close };
  },
  planFor: (steps, gatedTools) => planOf(steps.map(programStep), gatedTools),
  memory: {
    first: planOf([{ remember: 'blue' }], []),
    second: planOf([{ recall: true }], []),
    expected: 'I remember blue',
  },
  isWorking: () => readdirSync('/proc').some(isWorker),
});

function planOf(steps: Json, approvalRequiredTools: readonly string[]): Plan {
  const settings = { command: ['node', './program.mjs'] };
  const agent = agentOf({ framework: 'stdio', folder, approvalRequiredTools, settings });
  return { agent, prompt: JSON.stringify(steps) };
}

function programStep(step: Step): Json {
  return 'work' in step ? { work: nap } : JSON.parse(JSON.stringify(step));
}

function isWorker(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${nap}\0`;
  } catch {
    return false;
  }
}

describe('a program', () => {
  let stdio: OpenStdio;
  beforeAll(async () => {
    stdio = await openStdio();
  });
  afterAll(() => stdio.close());

  /** Runs a shell script as an agent; returns its text and its end. */
  async function play(
    script: string,
    settings: JsonObject = {},
    { by = stdio, ...more }: PlayMore & { by?: OpenStdio } = {},
  ) {
    const at = await temporaryFolder();
    await chmod(at, 0o755);
    await writeFile(join(at, 'agent.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const given = { command: ['./agent.sh'], ...settings };
    const agent = agentOf({ framework: 'stdio', folder: at, settings: given });
    return playProgram(by, agent, more);
  }

  test('that only prints is an agent: its lines become messages', async () => {
    const { text, events, end } = await play("echo Hello; echo; printf '42\\n{not json\\nlast'");
    expect(text).toBe('Hello\n\n42\n{not json\nlast');
    expect(events).toHaveLength(6);
    expect(end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('gets its input and its folders in the first line', async () => {
    const { text } = await play("head -n 1 | sed 's/^/got /'", {
      instructions: 'Be brief.',
      tools: ['write_file'],
    });
    expect(JSON.parse(text.replace(/^got /, ''))).toMatchObject({
      type: 'start',
      run_id: 'run_1',
      run_number: 1,
      input: { kind: 'prompt', prompt: 'hello' },
      state: null,
      workspace: '/workspace',
      home: '/home/agent',
      agent_folder: '/agent',
      agent: { name: 'tester', instructions: 'Be brief.', tools: ['write_file'], ask_user: true },
    });
  });

  test('may emit every type of event', async () => {
    const said: Json[] = [
      { type: 'message_delta', text: 'hi', model: 'm' },
      {
        type: 'usage',
        input_tokens: 3,
        output_tokens: 4,
        cached_input_tokens: 2,
        reasoning_tokens: 1,
        model: 'm',
      },
      { type: 'custom', name: 'step', data: { n: 1 } },
      { type: 'checkpoint', state: { a: [1] } },
      { type: 'permission_request', ref: 'p', tool_name: 'rm', tool_input: { path: 'x' } },
      { type: 'user_question', ref: 'q', question: 'Which?', options: ['a', { label: 'b' }] },
      { type: 'end', outcome: 'waiting' },
    ];
    const script = said.map((event) => `echo '${JSON.stringify(event)}'`).join('\n');
    expect((await play(script)).events).toEqual([
      { type: 'message_delta', text: 'hi', model: 'm' },
      {
        type: 'usage',
        inputTokens: 3,
        outputTokens: 4,
        cachedInputTokens: 2,
        reasoningTokens: 1,
        model: 'm',
      },
      { type: 'custom', name: 'step', data: { n: 1 } },
      { type: 'checkpoint', state: { a: [1] } },
      { type: 'permission_request', ref: 'p', toolName: 'rm', toolInput: { path: 'x' } },
      {
        type: 'user_question',
        ref: 'q',
        question: 'Which?',
        options: [{ label: 'a' }, { label: 'b' }],
      },
      { type: 'end', outcome: 'waiting' },
    ]);
  });

  test('that asks and exits is waiting, not completed', async () => {
    const { end } = await play(`echo '{"type":"user_question","ref":"q","question":"Well?"}'`);
    expect(end).toEqual({ type: 'end', outcome: 'waiting' });
  });

  test.each<[string, string, string]>([
    [
      'fails',
      'echo "no luck" >&2; exit 3',
      'The program ended with code 3. Its error output:\nno luck',
    ],
    [
      'says something that is no event',
      `echo '{"type":"mesage_delta"}'`,
      'Line 1 of the program\'s output: "mesage_delta" is not a type of event',
    ],
    [
      'says an event that lacks something',
      `echo text; echo '{"type":"permission_request","ref":"r","tool_input":{}}'`,
      "Line 2 of the program's output: permission_request.tool_name",
    ],
    [
      'says a line without end',
      "head -c 2000000 /dev/zero | tr '\\0' x; sleep 60",
      'longer than 1048576 bytes',
    ],
    [
      'nests its data too deeply',
      `python3 -c 'print("{\\"type\\":\\"custom\\",\\"name\\":\\"n\\",\\"data\\":{\\"a\\":"+"["*200000+"]"*200000+"}}")'`,
      "Line 1 of the program's output: it has more than 128 levels.",
    ],
    [
      'says more values than a line may have',
      `python3 -c 'print("{\\"type\\":\\"checkpoint\\",\\"state\\":[" + "[],"*300000 + "1]}")'`,
      "Line 1 of the program's output: it has more than 200000 values",
    ],
    [
      'asks without end',
      `for i in $(seq 150); do echo '{"type":"user_question","ref":"'$i'","question":"?"}'; done`,
      'asked more than 100 questions',
    ],
    [
      'waits for more and more',
      `for i in $(seq 150); do echo '{"type":"wait","ref":"'$i'","kind":"timer","name":"nap","for_seconds":1}'; done`,
      'The agent began more than 100 waits in one leg.',
    ],
    [
      'waits for more than a year',
      `echo '{"type":"wait","ref":"a","kind":"timer","name":"nap","for_seconds":31708800}'`,
      "Line 1 of the program's output: wait.for_seconds",
    ],
    [
      'waits until a year that is far away',
      `echo '{"type":"wait","ref":"a","kind":"timer","name":"nap","until":"2999-01-01T00:00:00Z"}'`,
      'A wait takes at most 366 days.',
    ],
    [
      'waits for a message that has no name',
      `echo '{"type":"wait","ref":"a","kind":"signal","name":"has paid"}'`,
      'the name of a message has 1 to 64 characters of A-Z, a-z, 0-9, _ and -',
    ],
  ])('that %s ends with an error that names the cause', async (_, script, message) => {
    expect((await play(script)).end).toEqual(agentError(message));
  });

  test('that has waited ten thousand times waits no more', async () => {
    const settled = { state: 'settled', kind: 'timer', result: { outcome: 'fired' } } as const;
    const waits = new Map(
      Array.from({ length: 10_000 }, (_, at) => [`nap ${at}`, { ...settled, number: at + 1 }]),
    );
    const { end } = await play(
      `echo '{"type":"wait","ref":"a","kind":"timer","name":"nap","for_seconds":1}'`,
      {},
      { waits },
    );
    expect(end).toEqual(agentError('The agent began more than 10000 waits.'));
  });

  test.each([
    ['nosuch', 'The program nosuch was not found in the sandbox.'],
    ['./gone.sh', "The program ./gone.sh was not found in the agent's folder."],
    ['/etc/passwd', 'The program /etc/passwd is not executable.'],
  ])('%s that cannot be started is named', async (program, message) => {
    const { end } = await play('true', { command: [program, 'x'] });
    expect(end).toEqual(agentError(message));
  });

  test('that exceeds its memory limit ends with an error that names the limit', async () => {
    const { limits } = await stdio.sandbox.describe();
    const { end } = await play('exec python3 -c "a=[b\'x\'*20_000_000 for _ in range(50)]"', {
      limits: { memory_mb: 64, pids: 32 },
    });
    const isCounted = limits.startsWith('cgroup');
    expect(end).toEqual(
      agentError(isCounted ? 'needed more than its 64 MB of memory' : 'MemoryError'),
    );
  });

  test('that does not exit after its end event is killed', async () => {
    const { end } = await play(`echo '{"type":"end"}'; echo ignored; exec sleep 600`);
    expect(end).toEqual({ type: 'end', outcome: 'completed' });
  });

  test('is held back while its events are not taken, and loses none of them', async () => {
    const { text } = await play('seq 200000');
    expect(text.length).toBe(1_288_895);
    expect(text.endsWith('\n199999\n200000\n')).toBe(true);
  });

  test('that prints faster than it is read waits, and loses nothing', async () => {
    const pauses: number[] = [];
    const clock: Clock = {
      now: () => 0,
      after(ms, callback) {
        pauses.push(ms);
        setImmediate(callback);
        return () => undefined;
      },
    };
    const { sandbox } = stdio;
    const harness = stdioHarness({ sandbox, clock, log: recordingLog() });
    const print = 'for i in $(seq 20); do head -c 1000000 /dev/zero | tr "\\0" x; echo; done';
    const { text, end } = await play(print, {}, { by: { ...stdio, harness } });
    expect({ length: text.length, end }).toEqual({
      length: 20_000_020,
      end: { type: 'end', outcome: 'completed' },
    });
    // 16 MiB at once, and 4 MiB in a second from then on: three lines wait, the last one for what all three are above
    // it.
    expect(pauses).toHaveLength(4);
    expect(pauses.at(-1)).toBeGreaterThan(700);
  });

  test('gets its secrets, and neither its output nor its errors reveal them', async () => {
    process.env['STDIO_TEST_KEY'] = 'correct-horse-battery';
    const env = { API_KEY: '${env:STDIO_TEST_KEY}' };
    const script = `[ "$API_KEY" = correct-horse-battery ] && echo "got $API_KEY"
      echo '{"type":"custom","name":"key","data":{"key":"'$API_KEY'"}}'
      echo "bad key $API_KEY" >&2; exit 1`;
    const { text, events, end } = await play(script, { env });
    delete process.env['STDIO_TEST_KEY'];
    expect(text).toBe('got [secret]\n');
    expect(end).toEqual(agentError('bad key [secret]'));
    expect(JSON.stringify(events)).not.toContain('correct-horse');
  });

  test('whose secret is missing does not start', async () => {
    const { events } = await play('echo started', { env: { API_KEY: '${env:NOT_THERE_AT_ALL}' } });
    expect(events).toEqual([agentError('API_KEY refers to ${env:NOT_THERE_AT_ALL}')]);
  });

  test('that asks to run without a sandbox does not start unless the operator allows it', async () => {
    const { events } = await play('echo started', { sandbox: { mode: 'none', network: [] } });
    expect(events).toEqual([
      {
        type: 'end',
        outcome: 'error',
        code: 'sandbox_unavailable',
        message: expect.stringContaining('CONVOKE_SANDBOX=none'),
      },
    ]);
  });

  test.each([
    [
      'the signal',
      "trap 'echo heard > how; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
    ],
    [
      'the line',
      `trap '' TERM; echo ready; read -r line; [ "$line" = '{"type":"cancel"}' ] && echo heard > how`,
    ],
  ])('may clean up when it is cancelled, notified by %s', async (_, script) => {
    const cancelling = new AbortController();
    const { end, sessionFolder } = await play(
      `read -r start; ${script}`,
      {},
      {
        signal: cancelling.signal,
        onEvent: () => cancelling.abort(),
      },
    );
    expect(end).toEqual({ type: 'end', outcome: 'cancelled' });
    expect(readFileSync(join(sessionFolder, 'how'), 'utf8')).toBe('heard\n');
  });

  test('is required: an agent without a command is refused', () => {
    const problems = problemsWith(stdio.harness, agentOf({ framework: 'stdio' }));
    expect(problems).toMatchObject([{ path: ['command'] }]);
  });
});

function agentError(message: string): HarnessEvent {
  const text: string = expect.stringContaining(message);
  return { type: 'end', outcome: 'error', code: 'agent_error', message: text };
}
