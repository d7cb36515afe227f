// Design of durable runs, §6.1 to §6.4: a server is killed at every moment of a run. Its store answers nothing from
// then on, and another server is composed on the same database.
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../support/databases.ts';
import { violationsOf } from './oracles.ts';
import {
  type Case,
  type Outcome,
  SeatWorld,
  type Started,
  answers,
  callKinds,
  truthful,
} from './seat-world.ts';
import { type Seat, isExhaustive, seats, seatsInDoubt } from './seats.ts';

const timeout = 300_000;

describe.each(databaseKinds)('a server on %s that is killed under its runs', (kind) => {
  // On PostgreSQL a loss takes seconds, until a lease has expired.
  const isSelected = isExhaustive || kind === 'sqlite';

  /** Runs the cases, kills a server whenever all of them are at a seat, and returns their outcomes. */
  async function survive(cases: readonly Case[], losses: number): Promise<[Started, Outcome][]> {
    const world = await SeatWorld.open(kind);
    // Closed here, since the servers of every pair of seats together need more connections than PostgreSQL has.
    try {
      await world.start();
      const begun = await world.begin(cases);
      for (let loss = 0; loss < losses; loss += 1) {
        await world.seated();
        await world.replace();
      }
      await world.ended();
      const outcomes: [Started, Outcome][] = [];
      for (const each of begun) outcomes.push([each, await world.outcomeOf(each)]);
      return outcomes;
    } finally {
      await world.close();
    }
  }

  test.runIf(isSelected)(
    'at every seat: each run completes, and its call is carried out once (D-88)',
    { timeout },
    async () => {
      const outcomes = await survive(
        everyCase((seat) => [seat]),
        1,
      );
      expect(outcomes.flatMap(([each, outcome]) => violationsOf(each, outcome))).toEqual([]);
      expect(outcomes.map(([{ prompt }, { run }]) => `${prompt} ${run.status}`)).toEqual(
        outcomes.map(([{ prompt }]) => `${prompt} completed`),
      );
      for (const [each, { effects, asked, run }] of outcomes) {
        const isInDoubt = each.kind !== 'repeatable' && seatsInDoubt.has(each.seats[0] ?? seats[0]);
        // The person knows what happened, so every call that is not repeatable happens exactly once.
        const counted = each.kind === 'repeatable' ? Math.min(effects, 1) : effects;
        expect([each.prompt, asked, counted]).toEqual([each.prompt, isInDoubt ? 1 : 0, 1]);
        const isOver = each.seats[0] === 'leg end durable';
        expect([each.prompt, run.lossesTotal]).toEqual([each.prompt, isOver ? 0 : 1]);
      }
    },
  );

  test('at every seat and there once more in the second attempt', { timeout }, async () => {
    const outcomes = await survive(
      everyCase((seat) => [seat, seat]),
      2,
    );
    expect(outcomes.flatMap(([each, outcome]) => violationsOf(each, outcome))).toEqual([]);
    for (const [each, { run, effects }] of outcomes) {
      const counted = each.kind === 'repeatable' ? Math.min(effects, 1) : effects;
      expect([each.prompt, run.status, counted]).toEqual([each.prompt, 'completed', 1]);
    }
  });

  test.runIf(isSelected)(
    'repeats a call exactly as often as a person says so (D-84)',
    { timeout },
    async () => {
      const inDoubt = everyCase((seat) => [seat, seat]).filter(
        (each) => each.kind !== 'repeatable' && seatsInDoubt.has(each.seats[0] ?? seats[0]),
      );
      const cases = [answers.again, answers.unknown, 'Ask me tomorrow'].flatMap((answer) =>
        inDoubt.map((each) => ({ ...each, person: () => answer })),
      );
      const outcomes = await survive(cases, 2);
      expect(outcomes.flatMap(([each, outcome]) => violationsOf(each, outcome))).toEqual([]);
      for (const [each, { run, repeats }] of outcomes) {
        const isRepeated = each.person(0) === answers.again;
        expect([each.prompt, run.status, repeats > 0]).toEqual([
          each.prompt,
          'completed',
          isRepeated,
        ]);
      }
    },
  );

  test.runIf(isExhaustive)('at every pair of seats', { timeout: 1_800_000 }, async () => {
    for (const first of seats) {
      const outcomes = await survive(
        everyCase((second) => [first, second]),
        2,
      );
      expect(outcomes.flatMap(([each, outcome]) => violationsOf(each, outcome))).toEqual([]);
      const open = outcomes.filter(([, { run }]) => run.status !== 'completed');
      expect(open.map(([{ prompt }]) => prompt)).toEqual([]);
    }
  });

  test
    .runIf(isSelected)
    .each([
      [['claim committed']],
      [['in the text', 'in the recovery']],
      [['in the text', 'in the next claim']],
      [['intent durable', 'in the recovery']],
      [['in the call, after its effect', 'in the next claim']],
    ] satisfies [Seat[]][])(
    'at the moment of a claim or a recovery: %s',
    { timeout },
    async (at) => {
      const world = await openWorld(kind);
      for (const each of callKinds) {
        const [begun] = await world.begin([lossOf(each, at)]);
        if (begun === undefined) throw new Error('no run was started');
        for (let loss = 0; loss < at.length; loss += 1) {
          await world.seated();
          await world.replace();
        }
        await world.ended();
        const outcome = await world.outcomeOf(begun);
        expect(violationsOf(begun, outcome)).toEqual([]);
        const counted = each === 'repeatable' ? Math.min(outcome.effects, 1) : outcome.effects;
        expect([begun.prompt, outcome.run.status, counted]).toEqual([begun.prompt, 'completed', 1]);
      }
    },
  );
});

async function openWorld(kind: DatabaseKind): Promise<SeatWorld> {
  const world = await SeatWorld.open(kind);
  onTestFinished(() => world.close());
  await world.start();
  return world;
}

function lossOf(kind: Case['kind'], at: readonly Seat[]): Case {
  return { kind, seats: at, fault: 'hold', person: truthful };
}

function everyCase(at: (seat: Seat) => readonly Seat[]): Case[] {
  return callKinds.flatMap((kind) => seats.map((seat) => lossOf(kind, at(seat))));
}
