// D-91: the machine of a lost leg has all its files, wherever between two commits the server died.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folderPaths } from '../../../src/session-folders/folder-paths.ts';
import { databaseKinds } from '../../support/databases.ts';
import { diaryName } from './actor-harness.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, type Started, truthful } from './seat-world.ts';
import type { Seat } from './seats.ts';

const timeout = 300_000;
const plain = (seat?: Seat): Case => ({
  kind: 'plain',
  seats: seat === undefined ? [] : [seat],
  fault: 'hold',
  person: truthful,
});

describe.each(databaseKinds)('a server on %s that is killed around the end of a leg', (kind) => {
  test.each([
    // Its folder was archived, and the session still names the archive before.
    ['leg end, not committed', 2],
    ['leg end durable', 1],
  ] as const)(
    'leaves every file to its next run on the same machine: %s (D-260)',
    { timeout },
    async (seat, lines) => {
      const world = await SeatWorld.open(kind);
      onTestFinished(() => world.close());
      const diaryOf = async ({ sessionId }: Started) => {
        const owner = { tenantId: world.scope.tenantId, sessionId };
        const { sessionFolder } = folderPaths(world.dataDir, owner);
        const text = await readFile(join(sessionFolder, diaryName), 'utf8');
        return text.split('\n').slice(0, -1);
      };
      await world.start();
      const [first] = await world.begin([plain()]);
      if (first === undefined) throw new Error('no run was started');
      await world.ended();
      const { sessionId } = first;
      const [second] = await world.begin([{ ...plain(seat), sessionId }]);
      if (second === undefined) throw new Error('no run was started');
      await world.seated();
      await world.kill();
      // The lease of the dead server is over.
      world.clock.advance(4_000);
      await world.start();
      await world.ended();
      const outcome = await world.outcomeOf(second);
      expect(violationsOf(second, outcome)).toEqual([]);
      const resumed = outcome.log.filter(({ type }) => type === 'run_resumed');
      expect(resumed.map(({ data }) => data['workspace'])).toEqual(lines === 2 ? ['same'] : []);
      const said = [first.prompt, ...Array.from({ length: lines }, () => second.prompt)];
      expect(await diaryOf(second)).toEqual(said);
      // The next leg finds it at the state that the session names, and saves it from there.
      const [third] = await world.begin([{ ...plain(), sessionId }]);
      await world.ended();
      expect(await diaryOf(second)).toEqual([...said, third?.prompt]);
    },
  );
});
