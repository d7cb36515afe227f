// What a call becomes that had begun when its process was lost: the server decides, and both kits play the server
// (D-710).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, textOf } from '../../../../test/repository.ts';
import type { KitMessage } from '../../../agent/src/lines.ts';
import { RehearsedRun } from '../../../agent/src/rehearsal/rehearsed-run.ts';
import { decideRecovery } from '../../src/domain/run/recovery.ts';
import { agentOf } from '../support/agent-folders.ts';

type Request = Extract<KitMessage, { type: 'permission_request' }>;
type Begin = Extract<KitMessage, { type: 'call_begin' }>;

interface Case {
  readonly title: string;
  readonly request: Request | undefined;
  readonly begin: Begin;
}

const input = { order: 7, to: { name: 'A' } };
const requests: Readonly<Record<string, Request | undefined>> = {
  'that no person allowed': undefined,
  'that a person allowed': request('call', 'pay', input),
  'that a person allowed with another input': request('call', 'pay', { order: 8 }),
  'that a person allowed under another ref': request('asked', 'pay', input),
  'whose tool a person allowed for another input': request('asked', 'pay', { order: 8 }),
  'whose input a person allowed for another tool': request('asked', 'mail', input),
};
const cases = Object.entries(requests).flatMap(([title, asked]) =>
  [true, false].map(
    (isRepeatable): Case => ({
      title: `a ${isRepeatable ? 'repeatable call' : 'call'} ${title}`,
      request: asked,
      begin: {
        type: 'call_begin',
        call_id: 'call',
        tool_name: 'pay',
        tool_input: input,
        touches: 'both',
        ...(isRepeatable && { repeatable: true }),
      },
    }),
  ),
);

test('the table of both kits is the same', () => {
  const table = textOf('packages/agent/src/rehearsal/lost-calls.json');
  expect(textOf('packages/agent-python/convoke_agent/lost_calls.json')).toBe(table);
});

test.each(cases)('the kit decides as the server: $title', (lost) => {
  expect(inKit(lost)).toBe(inServer(lost));
});

test('the kit in Python decides as the server', () => {
  expect(inPython()).toEqual(cases.map(inServer));
});

function inServer({ request: asked, begin }: Case): string {
  const { call_id: ref, tool_name: toolName, tool_input: given, touches, repeatable } = begin;
  const isRepeatable = repeatable === true;
  const call = { ref, toolName, input: given as never, touches, isRepeatable };
  const allowed =
    asked === undefined
      ? []
      : [{ ref: asked.ref, toolName: asked.tool_name, input: asked.tool_input as never }];
  const recovery = decideRecovery({
    run: {
      status: 'running',
      losses: 0,
      lossesTotal: 0,
      lastSeq: 1,
      lastMachine: null,
      savedEpoch: 0,
    },
    reason: 'worker_lost',
    agent: agentOf({ framework: 'code' }),
    afterLoss: 'repeat',
    point: undefined,
    calls: [{ ...call, epoch: 1, begunAt: 0, status: 'begun' }],
    allowed,
    isLeftToOthers: false,
    hasSameFolder: true,
    keepsCutText: false,
  });
  if (recovery.kind !== 'continue') throw new Error(`the server decided ${recovery.kind}`);
  return recovery.inDoubt.length === 1 ? 'left' : (recovery.settled[0]?.status ?? 'nothing');
}

function inKit({ request: asked, begin }: Case): string | undefined {
  const run = new RehearsedRun({});
  run.start();
  if (asked !== undefined) run.record(asked);
  run.reply();
  run.record(begin);
  run.tell(begin.call_id);
  run.lose();
  return run.start().input.calls?.['call']?.state;
}

const program = `import json, sys
from convoke_agent.rehearsal import RehearsedRun
states = []
for case in json.load(sys.stdin):
    run = RehearsedRun()
    run.start()
    if "request" in case:
        run.record(case["request"])
    run.reply()
    run.record(case["begin"])
    run.tell("call")
    run.lose()
    states.append(run.start()["input"]["calls"]["call"]["state"])
print(json.dumps(states))`;

function inPython(): unknown {
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-B', '-c', program], {
    input: JSON.stringify(cases),
    env: { PYTHONPATH: join(root, 'packages/agent-python') },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function request(ref: string, tool: string, toolInput: Request['tool_input']): Request {
  return { type: 'permission_request', ref, tool_name: tool, tool_input: toolInput };
}
