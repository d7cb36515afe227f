// The real SDK and program of Claude, handed over and killed under a run, against the scripted model server.
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { doubtOptions } from '../../src/domain/run/call-in-doubt.ts';
import { claudeHarness } from '../../src/harness/claude/harness.ts';
import { claudeSdkVersion, loadClaudeSdk } from '../../src/harness/claude/sdk.ts';
import type { Answer, Effects, Harness } from '../../src/ports/harness.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { claudePlans, promptOf } from '../harness/claude/plans.ts';
import { installedAgent } from '../harness/installed-agent.ts';
import { SandboxPlace, Sitting, allowing } from '../harness/sittings.ts';
import { recordingLog } from '../support/agent-folders.ts';
import { until } from '../support/eventually.ts';
import { watchedEffects } from '../support/effects.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { Death, MortalLegs } from '../support/mortal-legs.ts';

const name = '@anthropic-ai/claude-agent-sdk';
const modules = await installedAgent({ name, version: claudeSdkVersion });

beforeAll(() => requireSandbox());
const model = await startModelServer();
const place = await SandboxPlace.open();
const settings = {
  env: { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: model.url },
  sandbox: { mode: 'auto', network: [new URL(model.url).host] },
  limits: { memory_mb: 2048 },
};
const { agent } = claudePlans(settings).planOf('say');
afterAll(async () => {
  await place.close();
  await model.close();
});

const append = (line: string) =>
  `call Bash ${JSON.stringify({ command: `echo ${line} >> /workspace/lines.txt`, description: 'x' })}`;

function harness(): Harness {
  return claudeHarness({
    sandbox: place.sandbox,
    clock: systemClock,
    log: recordingLog(),
    load: () => loadClaudeSdk(join(modules, name)),
  });
}

describe('Claude, whose server drains', () => {
  let sessions = 0;

  /**
   * A session on one server; `elsewhere` is the same one on another, with its files and its HOME as they were archived.
   */
  async function sit(parts: Partial<Agent> = {}) {
    sessions += 1;
    const session = `drained-${sessions}`;
    const from = await place.session(session);
    const changed = { ...agent, ...parts };
    const sitting = new Sitting(harness(), { name: session, agent: changed, ...from });
    const elsewhere = async () => {
      const to = await place.session(`${session}-elsewhere`);
      for (const part of ['sessionFolder', 'stateDir'] as const) {
        // With the owner, which is the account of the programs.
        await promisify(execFile)('cp', ['-a', `${from[part]}/.`, to[part]]);
      }
      const moved = sitting.movedTo(harness(), changed, to);
      const lines = () => readFile(join(to.sessionFolder, 'lines.txt'), 'utf8').catch(() => '');
      return { moved, lines };
    };
    return { sitting, elsewhere };
  }

  test('hands over behind its call, and knows the result on another server (D-85)', async () => {
    const { sitting, elsewhere } = await sit();
    const command = 'echo one >> /workspace/lines.txt; echo QUAX$((0 + 1))IMA';
    const call = `call Bash ${JSON.stringify({ command, description: 'x' })}`;
    const leg = sitting.start(promptOf(`${call} ;; hang`));
    const first = await sitting.hear(leg, {
      onEvent: (event) => event.type === 'custom' && event.name === 'tool_result' && leg.yield?.(),
    });
    expect(first.end).toMatchObject({ outcome: 'yielded' });
    const { moved, lines } = await elsewhere();
    const second = await moved.hear(moved.goOn(promptOf('probe QUAX1+IMA')));
    expect([second.end, second.text]).toMatchObject([{ outcome: 'completed' }, 'QUAX1IMA: yes']);
    expect(await lines()).toBe('one\n');
  });

  test('continues behind its words on another server', async () => {
    const { sitting, elsewhere } = await sit();
    const task = promptOf('say working && hang');
    const leg = sitting.start(task);
    const first = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'message_delta' && leg.yield?.(),
    });
    expect([first.end, first.text]).toMatchObject([{ outcome: 'yielded' }, 'working']);
    const { moved } = await elsewhere();
    // The prompt tells what was said; the script in it answers once more.
    const probe = promptOf('probe so far ends with+ the following');
    const second = await moved.hear(moved.goOn(probe));
    expect(second.end).toMatchObject({ outcome: 'completed' });
    expect(second.text).toContain('yes');
  });

  test.each([
    // One call of a message is deferred; several wait in the process.
    ['one call', append('asked'), 'asked\n'],
    ['several calls', `${append('asked')} && call Read {"file_path":"/workspace/none"}`, 'asked\n'],
  ])('keeps what it asks open, and makes the allowed call once: %s (D-39)', async (...given) => {
    const [, calls, written] = given;
    const { sitting, elsewhere } = await sit({ approvalRequiredTools: ['Bash'] });
    const task = promptOf(`${calls} ;; say done`);
    const leg = sitting.start(task);
    const first = await sitting.hear(leg, {
      onEvent: ({ type }) => type === 'permission_request' && leg.yield?.(),
    });
    const [asked] = first.asked;
    if (asked === undefined) throw new Error('it asks');
    const answers = new Map<string, Answer>([[asked.ref, allowing(asked)]]);
    const { moved, lines } = await elsewhere();
    expect(await lines()).toBe('');
    const isWaiting = first.end?.type === 'end' && first.end.outcome === 'waiting';
    const next = isWaiting ? moved.start(task, answers) : moved.goOn(task, {}, answers);
    const second = await moved.hear(next);
    expect([second.end, second.asked]).toMatchObject([{ outcome: 'completed' }, []]);
    expect(await lines()).toBe(written);
  });
});

describe('Claude, whose server is killed and continues because its agent wants it', () => {
  const task = promptOf(`${append('one')} ;; last`);

  test('before the call: a person is asked, and the call is made once (D-83)', async () => {
    const death = new Death();
    const { legs, run, lines } = await mortal({
      task,
      // Before Claude has stored its session, no process can continue with it: the run ends `worker_lost`.
      onBegun: async (home) => {
        await until(() => hasSession(home), { withinMs: 60_000, what: 'session of Claude' });
        death.die();
      },
    });
    await legs.execute(run, death);
    expect(await lines()).toBe('');
    const asked: string[] = [];
    const ended = await legs.finish(run, {
      answer: ({ requestId }) => {
        asked.push(requestId);
        return { answer: doubtOptions.again.label };
      },
    });
    expect([ended.status === 'failed' ? ended.error : ended.status, asked.length]).toEqual([
      'completed',
      1,
    ]);
    expect(await lines()).toBe('one\n');
    expect(await legs.joined(run)).toBe(ended.outputText);
  });

  test('behind the result: the call is not made again (D-89)', async () => {
    const death = new Death();
    const { legs, run, lines } = await mortal({ task, onEnded: () => death.die() });
    await legs.execute(run, death);
    expect(await lines()).toBe('one\n');
    const ended = await legs.finish(run, { answer: () => ({ answer: 'not asked' }) });
    expect(ended.status).toBe('completed');
    expect(await lines()).toBe('one\n');
    expect(await legs.joined(run)).toBe(ended.outputText);
  });
});

/** Whether Claude has stored its session. */
async function hasSession(home: string): Promise<boolean> {
  const files = await readdir(join(home, '.claude', 'projects'), { recursive: true }).catch(
    () => [],
  );
  return files.some((file) => file.endsWith('.jsonl'));
}

interface MortalRun {
  readonly task: string;
  /** Called once, when the ledger has the intent of the first call. */
  readonly onBegun?: (home: string) => Promise<void>;
  /** Called once, when the ledger has the result of the first call. */
  readonly onEnded?: () => void;
}

/** A run on a real database, whose agent wants to continue after a loss. */
async function mortal({ task, onBegun, onEnded }: MortalRun) {
  const recovery = {
    onLoss: 'resume',
    attempts: 3,
    inDoubt: 'ask',
    repeatableTools: [],
    cutMessage: 'continue',
  } as const;
  const real = harness();
  const seen = new Set<string>();
  const isFirst = (moment: string) => !seen.has(moment) && seen.add(moment).has(moment);
  const watched: Harness = {
    ...real,
    start: (input, context) => {
      const { effects } = context;
      const begin: Effects['begin'] = async (call) => {
        const begun = await effects.begin(call);
        if (isFirst('begun')) await onBegun?.(legs.foldersOf(run).stateDir);
        return context.holdsLease() ? begun : { kind: 'left' };
      };
      const end: Effects['end'] = async (ref, result) => {
        await effects.end(ref, result);
        if (isFirst('ended')) onEnded?.();
      };
      return real.start(input, { ...context, effects: watchedEffects(effects, { begin, end }) });
    },
  };
  const { account } = place.sandbox;
  const wanting = { ...agent, recovery };
  const legs = await MortalLegs.open({ kind: 'sqlite', agent: wanting, harness: watched, account });
  onTestFinished(() => legs.close());
  const run = await legs.start(task);
  const file = join(legs.foldersOf(run).sessionFolder, 'lines.txt');
  return { legs, run, lines: () => readFile(file, 'utf8').catch(() => '') };
}
