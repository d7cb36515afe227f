// Steps of tests in which a run loses its worker: what the worker had recorded, and how its lease expires.
import { RunText } from '@convoke/faces';
import { answerInteraction } from '../../src/app/interactions.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ToolCall } from '../../src/domain/run/tool-call.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import type { LegNote, PlacedNote } from '../../src/execution/recording/leg-notes.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, hour, maker, noRules } from '../support/run-fixture.ts';

/** The steps on the fixture that `world` returns once it is there. */
export function lossSteps(world: () => RunFixture) {
  return {
    types: async (run: Run) => (await world().logOf(run.id)).map(({ type }) => type),
    callsOf: async (run: Run) => world().store.read.toolCalls.ofRun(run.id),
    lose: async (run: Run, { isSingleServer = true } = {}): Promise<Run> => {
      await expireLeases(world(), isSingleServer);
      return world().read(run);
    },
    started: async (): Promise<ClaimedLeg> =>
      world().claimed(await world().start(await world().open())),
    answer: async (run: Run, ref: string, body: JsonObject) => {
      const asked = await world().store.read.interactions.findByRequest(run.id, ref);
      if (asked === undefined) throw new Error('no question was asked');
      const request = { sessionId: run.sessionId, key: asked.key, body, by, allower };
      return answerInteraction(world(), world().scope, request);
    },
    beginCall: async (leg: ClaimedLeg, parts: Partial<ToolCall> = {}) =>
      world().record(leg, { notes: [intent(leg, parts)] }),
  };
}

/** Moves the clock past every lease, and recovers the runs that had one. */
export async function expireLeases(world: RunFixture, isSingleServer: boolean): Promise<void> {
  world.clock.advance(15_001);
  const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true };
  await reconcileRuns({ ...world, isSingleServer }, leases);
}

export const settle = () => {};

export function note(content: LegNote, after = 0): PlacedNote {
  return { note: content, after };
}

/** A recovery point behind so many items of its batch. */
export function point(after: number): PlacedNote {
  return note({ kind: 'checkpoint', state: { at: after }, isRecoveryPoint: true }, after);
}

export function intent(leg: ClaimedLeg, parts: Partial<ToolCall> = {}): PlacedNote {
  const { ref = 'call-1', toolName = 'pay', touches = 'outside', input = { amount: 5 } } = parts;
  const call = { ref, toolName, touches, input, epoch: leg.run.leaseEpoch, begunAt: 1 };
  return note({ kind: 'begin', intent: call, settle });
}

interface Beginning {
  readonly leg: ClaimedLeg;
  readonly call: PlacedNote;
  readonly inDoubtAfter?: number;
}

/** Whether the call may begin. */
export async function begins(
  world: RunFixture,
  { leg, call, inDoubtAfter }: Beginning,
): Promise<boolean> {
  const recorded = await recordLeg(world, leg.holder, {
    take: () => ({ items: [], notes: [call], context: undefined, end: undefined }),
    waitMs: hour,
    inDoubtAfter,
    lossesTotal: leg.run.lossesTotal,
    maker,
    rules: noRules,
  });
  return recorded?.refused.has(call.note) === false;
}

/** The answer as a reader joins it from the events. */
export function joined(log: readonly { type: string; data: unknown }[]): string {
  const text = new RunText();
  log.forEach((event, index) => text.take({ ...event, id: String(index + 1).padStart(12, '0') }));
  return text.text;
}
