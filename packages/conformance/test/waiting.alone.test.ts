// Agents that first wait for a time, a message or a called run: a client that was written from the specification alone
// notices nothing (D-851). waiting.fault.test.ts runs the whole kit against them.
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import {
  createServerFolder,
  readQuickstart,
} from '../../server/test/faults/support/server-folder.ts';
import { ServerProcess } from '../../server/test/faults/support/server-process.ts';
import { runConformance } from '../src/conformance.ts';
import { readTask } from '../src/options.ts';
import { Secrets } from '../src/secrets.ts';
import { startProxy } from './deviating-proxy.ts';
import { writeWaitingAgents } from './waiting-agents.ts';

/** Of a run's life: its start, its events, questions, its ends, and both ways to read it again. */
const ids =
  '2-run-error 3-run-started 3-run-completed 3-run-cancelled 3-run-error 3-run-final 4.2-invoke 4.2-run-key 4.2-answer ' +
  '4.2-filter 6-exact-input 6-envelope 6-r1 6-r2 6-r3 6-r4 6-r5 convoke-history';

interface Seen {
  readonly id?: string;
  readonly status?: string;
  readonly kind?: string;
  readonly pending_interactions?: number;
}

test('runs that wait first have known statuses, interactions and reasons, and pass the checks of runs', async () => {
  const folder = await createServerFolder({ agents: {} });
  atFileEnd(() => folder.remove());
  const steps = { echo: 'sleep', fail: 'sleep', ask: 'receive', slow: 'receive', approve: 'call' };
  await writeWaitingAgents(folder.agentsDir, (role) => steps[role] as 'sleep' | 'receive' | 'call');
  const server = await ServerProcess.start(folder);
  atFileEnd(async () => void (await server.kill()));

  const runs: Seen[] = [];
  const interactions: Seen[] = [];
  /** The types of the events of each run, and the data of those that say that it continues. */
  const types = new Map<string, string[]>();
  const resumed: unknown[] = [];
  const proxy = await startProxy(server.baseUrl, {
    answer({ status, text }, { path }) {
      if (status > 299 || !/\/(runs|interactions)(\/\w+)?(\?|$)/.test(path)) return;
      const body = JSON.parse(Buffer.from(text, 'latin1').toString()) as Seen & {
        readonly runs?: Seen[];
        readonly interactions?: Seen[];
      };
      interactions.push(...(body.interactions ?? []));
      runs.push(...(body.runs ?? (body.id?.startsWith('run_') === true ? [body] : [])));
    },
    frame(frame) {
      const [, text = '{}'] = /^data: ([^\n]*)\n/m.exec(frame) ?? [];
      const { run_id: run = '', type, data } = JSON.parse(text) as Record<string, string>;
      if (type !== undefined) types.set(run, [...(types.get(run) ?? []), type]);
      if (type === 'run_resumed') resumed.push(data);
      return frame;
    },
  });
  atFileEnd(() => proxy.close());
  const { client_id, client_secret, owner_token } = readQuickstart(folder);
  const task = readTask(
    ['--base-url', proxy.baseUrl, '--level', 'convoke', '--only', ids.replaceAll(' ', ',')],
    {
      CONVOKE_CLIENT_ID: client_id,
      CONVOKE_CLIENT_SECRET: client_secret,
      CONVOKE_OWNER_TOKEN: owner_token,
    },
  );
  if (task.kind !== 'run') throw new Error('expected options');
  const { requirements } = await runConformance(task.options, new Secrets());
  const outcomes = requirements.map(({ requirement, outcome, checks }) => {
    return [requirement.id, outcome, ...(outcome === 'pass' ? [] : [checks])];
  });
  expect(outcomes.filter(([, outcome]) => outcome !== 'pass')).toEqual([]);
  expect(outcomes.map(([id]) => id)).toEqual(expect.arrayContaining(ids.split(' ')));

  const statuses = ['queued', 'running', 'waiting', 'cancelling'];
  const ends = ['completed', 'failed', 'cancelled'];
  expect(runs.map(({ status }) => status)).toEqual(expect.arrayContaining(ends));
  for (const { status = '', pending_interactions: pending = 0 } of runs) {
    expect([...statuses, ...ends]).toContain(status);
    if (status === 'waiting') expect(pending).toBe(1);
  }
  const kinds = new Set(interactions.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['question', 'permission']));
  // Every run has waited, which its log says in events that a client may pass over.
  for (const seen of types.values()) {
    const from = seen.indexOf('run_started');
    if (seen.length > from + 1) expect(seen[from + 1]).toBe('wait_started');
  }
  expect(types.size).toBeGreaterThan(5);
  expect(resumed.length).toBeGreaterThan(5);
  for (const data of resumed) expect(data).toMatchObject({ reason: 'answered' });
}, 300_000);
