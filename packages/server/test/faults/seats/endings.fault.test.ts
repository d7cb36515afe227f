// Design of durable runs, §6.6: what ends a run wins over its recovery, wherever the server dies.
import type { RunId } from '@convoke/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cancelRun } from '../../../src/app/runs/runs.ts';
import { stopSession } from '../../../src/app/sessions.ts';
import { offboardTenant } from '../../../src/app/tenants.ts';
import { type DatabaseKind, databaseKinds } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { by } from '../../support/identity-fixture.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, type Started, callKinds, truthful } from './seat-world.ts';
import { isExhaustive, seats, seatsInDoubt } from './seats.ts';

const timeout = 300_000;
const patienceMs = 120_000;
const day = 24 * 3_600_000;
const kinds = isExhaustive ? databaseKinds : (['sqlite'] as const);
const open = seats.filter((seat) => seat !== 'leg end durable');

/** Each seat with each kind of call. In a selection the kinds take turns, beginning with the one named. */
function casesAt(from: number | 'all', person: Case['person'] = truthful): Case[] {
  const every = open.flatMap((seat, index) =>
    callKinds.map((kind, turn) => ({
      seat,
      kind,
      isSelected: from === 'all' || (index + turn + from) % 3 === 0,
    })),
  );
  return every
    .filter(({ isSelected }) => isExhaustive || isSelected)
    .map(({ seat, kind }) => ({ kind, seats: [seat], fault: 'hold', person }));
}

/** Runs that are held at their seats. */
async function seatedWorld(kind: DatabaseKind, cases: readonly Case[]) {
  const world = await SeatWorld.open(kind);
  onTestFinished(() => world.close());
  await world.start();
  const begun = await world.begin(cases);
  await world.seated();
  return { world, begun };
}

const endings = {
  cancelled: async ({ services, scope }: SeatWorld, { sessionId }: Started, runId: RunId) => {
    await cancelRun(services, scope, { sessionId, runId });
  },
  'stopped with its session': async ({ services, scope }: SeatWorld, { sessionId }: Started) => {
    await stopSession(services, scope, { id: sessionId, mode: 'terminate', reason: undefined });
  },
} as const;

describe.each(kinds)('a run on %s whose server dies', (kind) => {
  test.each(Object.keys(endings) as (keyof typeof endings)[])(
    'after it was %s ends cancelled at any seat, and nothing is carried out after it (D-240, D-94)',
    { timeout },
    async (ending) => {
      const { world, begun } = await seatedWorld(kind, casesAt(ending === 'cancelled' ? 'all' : 0));
      const before = new Map<string, number>();
      for (const each of begun) {
        await endings[ending](world, each, (await world.runOf(each)).id);
        before.set(each.prompt, (await world.outcomeOf(each)).effects);
      }
      await world.replace();
      await world.ended();
      for (const each of begun) {
        const outcome = await world.outcomeOf(each);
        expect(violationsOf(each, outcome)).toEqual([]);
        const { run, effects, log } = outcome;
        expect([each.prompt, run.status, effects]).toEqual([
          each.prompt,
          'cancelled',
          before.get(each.prompt),
        ]);
        expect(log.at(-1)?.type).toBe('run_cancelled');
      }
    },
  );

  test('during the offboarding of its tenant is removed at any seat, and nothing is carried out after it (D-67)', {
    timeout,
  }, async () => {
    const { world, begun } = await seatedWorld(kind, casesAt(1));
    const { organizationId, tenantId } = world.scope;
    const confirm = { id: tenantId, confirm: tenantId, by };
    const runs = await Promise.all(begun.map((each) => world.runOf(each)));
    const effects = () => runs.map(({ id }) => world.effects.count(`${id}.call-1`));
    await offboardTenant(world.services, organizationId, confirm);
    await eventually(async () => {
      const now = await Promise.all(begun.map((each) => world.runOf(each)));
      return now.every(({ status }) => status === 'cancelling');
    }, patienceMs);
    const before = effects();
    await world.replace();
    const { store } = await eventually(() => world.services, patienceMs);
    await eventually(async () => {
      const tenant = await store.read.tenants.find(organizationId, tenantId);
      return tenant?.status === 'offboarded';
    }, patienceMs);
    expect(effects()).toEqual(before);
    for (const { id } of runs) expect(await store.read.toolCalls.ofRun(id)).toEqual([]);
  });

  test('continues also when no server is there for so long that an unused session would expire (D-17)', {
    timeout,
  }, async () => {
    const { world, begun } = await seatedWorld(kind, casesAt(2));
    await world.kill();
    world.clock.advance(400 * day);
    await world.start();
    await world.ended();
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect(violationsOf(each, outcome)).toEqual([]);
      expect([each.prompt, outcome.run.status]).toEqual([each.prompt, 'completed']);
    }
  });

  test('ends when no person answers about its call in time, and the call is not repeated (D-25, D-84)', {
    timeout,
  }, async () => {
    const inDoubt = casesAt(0, () => undefined).filter(({ seats: [seat = 'in the text'] }) =>
      seatsInDoubt.has(seat),
    );
    const cases = inDoubt.map((each): Case => ({ ...each, kind: 'plain' }));
    const { world, begun } = await seatedWorld(kind, cases);
    await world.replace();
    await eventually(async () => {
      const runs = await Promise.all(begun.map((each) => world.runOf(each)));
      return runs.every(({ status }) => status === 'waiting');
    }, patienceMs);
    world.clock.advance(400 * day);
    await world.ended();
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect(violationsOf(each, outcome)).toEqual([]);
      const { run, log, effects } = outcome;
      expect([each.prompt, run.status, effects <= 1]).toEqual([each.prompt, 'failed', true]);
      expect(log.at(-1)?.data['error_code']).toBe('interaction_expired');
    }
  });
});
