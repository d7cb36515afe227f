import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { readConfig } from '../../src/config/config.ts';
import { examineWaits } from '../../src/operate/doctor/waits.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { createCallingWorld, parked, research } from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';

test.each(databaseKinds)(
  'doctor warns of times that have been over for a minute, and of no other wait, on %s (D-915)',
  async (kind) => {
    const { world, begun } = await createCallingWorld(kind);
    const config = readConfig(
      kind === 'postgres'
        ? { CONVOKE_DATABASE_URL: world.location }
        : { CONVOKE_DATA_DIR: dirname(world.location) },
    );
    const nap = { type: 'wait', kind: 'timer', name: 'nap' } as const;
    async function sleeps(...times: readonly number[]): Promise<void> {
      const { leg } = await begun();
      const naps = times.map((at, index) => ({ ...nap, ref: `nap ${index}`, due: { at } }));
      await world.record(leg, { items: [...naps, research], end: parked });
    }
    const minute = 60_000;
    const now = Date.now();
    await sleeps(now + 1e9);
    expect(await examineWaits(config)).toEqual([]);
    await sleeps(now - 5 * minute);
    const [one, ...others] = await examineWaits(config);
    expect(one).toMatchObject({
      check: 'waits',
      state: 'warn',
      text: expect.stringMatching(/^a time that a run waits for has been over for \d+ min$/),
      remedy: expect.stringContaining('settle waits'),
    });
    expect(others).toEqual([]);
    await sleeps(now - 3 * minute);
    expect(await examineWaits(config)).toMatchObject([
      {
        text: expect.stringMatching(
          /^2 times that runs wait for are over, the oldest for \d+ min$/,
        ),
      },
    ]);
    world.clock.advance(Math.max(0, now - world.clock.now()));
    await settleWaits(world);
    expect(await examineWaits(config)).toEqual([]);
  },
);

test('a database that is not there, or is of another time, is no matter of its waits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-waits-'));
  try {
    expect(await examineWaits(readConfig({ CONVOKE_DATA_DIR: folder }))).toEqual([]);
    const nowhere = readConfig({ CONVOKE_DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    expect(await examineWaits(nowhere)).toEqual([]);
  } finally {
    await removeFolder(folder);
  }
});
