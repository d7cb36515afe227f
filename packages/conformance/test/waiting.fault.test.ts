// D-851: the whole kit, with an owner and a SIGKILL in between, against agents that first sleep, wait for a message
// that does not come, or call another agent. Its client was written from the specification alone.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Convoke } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { databaseKinds } from '../../server/test/support/databases.ts';
import { requirements } from '../src/requirements/requirements.ts';
import { idsWith, readReport, runKit } from './kit-process.ts';
import { startRestartable } from './restartable-server.ts';
import { type FirstStep, firstSteps, writeWaitingAgents } from './waiting-agents.ts';

const cases = databaseKinds.flatMap((kind) =>
  Object.keys(firstSteps).map((first) => [first as FirstStep, kind] as const),
);

test.each(cases)(
  'agents that first %s conform on %s, also over a restart',
  async (first, kind) => {
    const folder = await mkdtemp(join(tmpdir(), 'convoke-conformance-'));
    const write = (directory: string) => writeWaitingAgents(directory, () => first);
    const server = await startRestartable(kind, { write, changesPerMinute: 400 });
    try {
      const json = join(folder, 'report.json');
      const options = [...server.options, '--level', 'convoke', '--json', json];
      const { status, stdout, stderr } = await runKit(
        [...options, '--time-limit', '900'],
        server.env,
      );
      expect(`${stderr}${status === 0 ? '' : stdout}`).toBe('');
      const report = await readReport(json);
      const invisible = requirements.filter(({ visible }) => visible === 'no').map(({ id }) => id);
      expect(idsWith(report, 'not exercised')).toEqual(invisible);
      expect(idsWith(report, 'not applicable')).toEqual([]);
      expect(idsWith(report, 'warning')).toEqual([]);
      await everyRunHasWaited(server.client, first);
    } finally {
      await server.close();
      await removeFolder(folder);
    }
  },
  1_800_000,
);

const outcomes = { sleep: ['fired'], receive: ['timed_out'], call: ['completed'] } as const;

/** Reads the logs of all runs: each began with a wait, and none has a status or a reason that is new. */
async function everyRunHasWaited(
  client: Readonly<Record<'baseUrl' | 'clientId' | 'clientSecret', string>>,
  first: FirstStep,
): Promise<void> {
  const convoke = new Convoke(client);
  let count = 0;
  for await (const { id, session_id: session, status, agent_name: agent } of convoke.runs.list()) {
    if (agent === 'called') continue;
    expect(['completed', 'failed', 'cancelled']).toContain(status);
    const types: string[] = [];
    for await (const { type, data } of convoke.sessions.at(session).runs.at(id).events()) {
      types.push(type);
      if (type === 'wait_ended') expect([...outcomes[first], 'cancelled']).toContain(data.outcome);
      if (type === 'run_resumed')
        expect(['answered', 'worker_lost', 'drained']).toContain(data.reason);
    }
    // One that was stopped before it began has no more.
    if (types[0] !== 'run_started' || types[1] === 'run_cancelled') continue;
    expect([agent, types.slice(0, 2)]).toEqual([agent, ['run_started', 'wait_started']]);
    count += 1;
  }
  expect(count).toBeGreaterThan(30);
}
