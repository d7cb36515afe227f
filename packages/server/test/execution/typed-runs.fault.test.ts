// D-566: what a run returns is recorded with its end or not at all, whatever happens to its workers.
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent as programOf } from '@convoke/agent';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { compileSchema } from '../../src/agents/schemas/compile-schema.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import type { LegSupervisor } from '../../src/execution/leg-supervisor.ts';
import { scriptedHarness } from '../../src/harness/scripted/harness.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { AiSdkPlace } from '../harness/ai-sdk/agent.ts';
import { inProcessHarness } from '../harness/code/in-process.ts';
import { openStdio } from '../harness/stdio/leg.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { atEverySeat } from '../support/every-seat.ts';
import { Death, Moment, MortalLegs, type MortalParts } from '../support/mortal-legs.ts';

const timeout = 600_000;
const output = { team: 'billing', because: 'late' };
const schema = { type: 'object', required: ['team'], properties: { team: { const: 'billing' } } };
const recovery = { ...agentOf({}).recovery, attempts: 20 };

type Parts = Omit<MortalParts, 'kind'> & {
  readonly prompt?: string;
  readonly close?: () => Promise<void>;
};

async function typed(more: Partial<Agent>): Promise<Agent> {
  const check = await compileSchema({ schema, compilePattern: undefined });
  return { ...agentOf({ recovery, ...more }), output: { schema, check } };
}

/** A script gives its output before it asks, so that a leg has it in its checkpoint. */
async function scripted(): Promise<Parts> {
  const script = [
    { say: 'Hm. ' },
    { output: { team: 'billing', because: 'late' } },
    { ask: { question: 'Why?' } },
    { say: 'So.' },
  ];
  return {
    agent: await typed({ framework: 'scripted', settings: { script } }),
    harness: scriptedHarness({ clock: systemClock }),
  };
}

/** A folder that the programs of a sandbox may read. */
async function folderWith(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-typed-'));
  await chmod(folder, 0o755);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder, close: () => removeFolder(folder) };
}

async function code(): Promise<Parts> {
  const harness = inProcessHarness(() =>
    programOf(async (ctx) => {
      ctx.say('Hm. ');
      const why = await ctx.ask('Why?');
      const team = await ctx.step('sort', () => 'billing', { repeatable: true });
      ctx.say('So.');
      return { team, because: why };
    }),
  );
  // The program itself is above: only its name is read.
  const { folder, close } = await folderWith({ 'agent.ts': '' });
  const settings = { entry: 'agent.ts' };
  return { agent: await typed({ framework: 'code', folder, settings }), harness, close };
}

const program = `
import json, sys
start = json.loads(sys.stdin.readline())
answers = start["input"].get("answers", {})
if "why" not in answers:
    print(json.dumps({"type": "message_delta", "text": "Hm. "}))
    print(json.dumps({"type": "user_question", "ref": "why", "question": "Why?"}))
    print(json.dumps({"type": "checkpoint", "state": 1, "recovery": True}))
    print(json.dumps({"type": "end", "outcome": "waiting"}), flush=True)
else:
    print(json.dumps({"type": "message_delta", "text": "So."}))
    output = {"team": "billing", "because": answers["why"]["values"][0]}
    print(json.dumps({"type": "end", "output": output}), flush=True)
`;

async function stdio(): Promise<Parts> {
  requireSandbox();
  const opened = await openStdio();
  const { folder, close } = await folderWith({ 'agent.py': program });
  const settings = { command: ['python3', './agent.py'] };
  return {
    agent: await typed({ framework: 'stdio', folder, settings }),
    harness: opened.harness,
    account: opened.sandbox.account,
    close: async () => {
      await opened.close();
      await close();
    },
  };
}

/** Its model submits wrongly first, and then beside a question. */
async function aiSdk(): Promise<Parts> {
  requireSandbox();
  const place = await AiSdkPlace.open();
  const script = [
    'say Hm. && call submit_output {"team":"tech"}',
    `call ask_user {"question":"Why?"} && call submit_output ${JSON.stringify(output)}`,
    'say never',
  ];
  return {
    agent: await typed(place.agent()),
    harness: place.harness(),
    account: place.account,
    prompt: `@@ ${script.join(' ;; ')}`,
    close: () => place.close(),
  };
}

const cases = [
  ['ai-sdk', aiSdk],
  ['scripted', scripted],
  ['code', code],
  ['stdio', stdio],
] as const;

describe.each(databaseKinds)('on %s', (kind) => {
  describe.each(cases)('at any commit of a typed run of %s', (framework, open) => {
    let legs: MortalLegs;
    let parts: Parts;
    beforeAll(async () => {
      parts = await open();
      legs = await MortalLegs.open({ kind, ...parts });
    });
    afterAll(async () => {
      await legs.close();
      await parts.close?.();
    });

    /** Both the output and the end that it belongs to, or neither. */
    async function expectWhole(seat: string, ended: Run): Promise<void> {
      const log = await legs.world.logOf(ended.id);
      const outputs = log.filter(({ type }) => type === 'run_output');
      const isCompleted = ended.status === 'completed';
      expect([seat, outputs.length]).toEqual([seat, isCompleted ? 1 : 0]);
      expect([seat, ended.output]).toEqual([seat, isCompleted ? JSON.stringify(output) : null]);
      expect([seat, ended.agentDigest]).toEqual([seat, parts.agent.digest]);
      if (!isCompleted) return;
      const last = log.slice(-2).map(({ type, data }) => [type, data['output']]);
      expect([seat, last]).toEqual([
        seat,
        [
          ['run_output', output],
          ['run_completed', undefined],
        ],
      ]);
    }

    const answer = () => ({ answer: 'late' });

    test.each<[string, (commit: number) => Death | Moment]>([
      ['a death before it', (commit) => new Death(commit, false)],
      ['a death after it', (commit) => new Death(commit, true)],
      ['a drain', (commit) => new Moment(commit, (leg) => leg.yield())],
      ['a drain that is cut', (commit) => new Moment(commit, cutShort)],
      ['the loss of the lease', (commit) => new Moment(commit, (leg) => leg.lose())],
    ])('%s leaves output and end, once, or neither', { timeout }, async (_what, fateAt) => {
      const seats = await atEverySeat(fateAt, async (seat, deaths) => {
        const run = await legs.start(parts.prompt ?? 'go');
        const ended = await legs.finish(run, { deaths, answer });
        // A program that is lost before its first recovery point ends its run.
        const isLost = framework === 'stdio' && ended.error?.code === 'worker_lost';
        expect([seat, ended.status, isLost ? null : ended.error]).toEqual([
          seat,
          isLost ? 'failed' : 'completed',
          null,
        ]);
        await expectWhole(seat, ended);
      });
      expect(seats).toBeGreaterThan(1);
    });

    test('a cancel leaves no output, or comes too late', { timeout }, async () => {
      let run: Run;
      const statuses = new Set<string>();
      await atEverySeat(
        (commit) =>
          new Moment(commit, async (leg) => {
            const { world } = legs;
            if (isEnded(await world.read(run))) return;
            await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
            leg.checkControl();
          }),
        async (seat, deaths) => {
          run = await legs.start(parts.prompt ?? 'go');
          const ended = await legs.finish(run, { deaths, answer });
          statuses.add(ended.status);
          await expectWhole(seat, ended);
        },
      );
      expect([...statuses].sort()).toEqual(['cancelled', 'completed']);
    });
  });
});

function cutShort(leg: LegSupervisor): void {
  leg.yield();
  // Resolves when the leg is over, which waits for this commit.
  leg.cut().catch(() => undefined);
}
