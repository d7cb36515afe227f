import { idPrefixes } from '@convoke/contract';
import type { RunInSession } from '../../app/record.ts';
import { Refusal } from '../../app/refusal.ts';
import { startCalledRun, whyNotCalled } from '../../app/runs/start-called-run.ts';
import type { StartServices } from '../../app/runs/start-run.ts';
import { type SettledInteraction, approvedInput, isSettled } from '../../domain/interaction.ts';
import type { Json } from '../../domain/json.ts';
import { endedEvent, openCall, settleWait, startedEvent } from '../../domain/run/wait.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { type Deciding, decisionAbout, decisionEvents, observationEvents } from './decide-calls.ts';
import { raiseInteraction } from './raise-interaction.ts';
import { type RaisedWait, nothingRaised } from './raise-waits.ts';

export type CallEvent = Extract<HarnessEvent, { type: 'wait'; kind: 'run' }>;

/** Calls of the batch whose run could not be started, by `ref`, with the reason. */
export type Refusals = ReadonlyMap<string, string>;

/** The run of a call cannot be started: nothing of the transaction may be written. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';
  readonly ref: string;

  constructor(ref: string, { message }: Refusal) {
    super(message);
    this.ref = ref;
  }
}

interface Calling {
  readonly item: CallEvent;
  /** The caller, which is locked. */
  readonly seen: RunInSession;
  readonly waitMs: number;
  readonly deciding: Deciding;
  readonly refusals: Refusals;
}

/**
 * D-920: starts the run that an agent calls, in the transaction that stores the wait for it. A known `ref` is the same
 * call, and nothing is written. What is not allowed, or cannot be started, is a wait that is over: its caller gets the
 * reason as a value.
 */
export async function raiseCall(
  services: StartServices,
  tx: StoreTransaction,
  calling: Calling,
): Promise<RaisedWait> {
  const { item, seen } = calling;
  const { run } = seen;
  // It is about to end, and calls nothing more.
  if (run.status === 'cancelling') return nothingRaised;
  if ((await tx.waits.findByRef(run.id, item.ref)) !== undefined) return nothingRaised;
  const verdict = await judge(services, tx, calling);
  if (verdict.kind === 'asked') return { ...nothingRaised, ...verdict.raised, isAsking: true };
  if (verdict.kind === 'denied') {
    return refuseCall(services, tx, { calling, code: 'denied', ...verdict });
  }
  const { input } = verdict;
  const request = { name: item.name, input, ceiling: item.ceiling };
  const message =
    calling.refusals.get(item.ref) ?? (await whyNotCalled(services, tx, { caller: run, request }));
  if (message !== undefined) {
    return refuseCall(services, tx, { calling, code: 'refused', message, raised: verdict.raised });
  }
  const called = await startCalledRun(services, tx, { caller: seen, request }).catch(
    (error: unknown) => {
      throw error instanceof Refusal ? new RefusedCall(item.ref, error) : error;
    },
  );
  const wait = openCall(placeOf(services, calling), item, { called, now: services.clock.now() });
  await tx.waits.insert(wait);
  const { events, decided } = verdict.raised;
  return { events: [...events, startedEvent(wait)], opened: 1, decided, isAsking: false };
}

interface RefusedOne {
  readonly calling: Calling;
  readonly code: 'denied' | 'refused';
  readonly message: string;
  readonly raised: RaisedParts;
}

async function refuseCall(
  services: StartServices,
  tx: StoreTransaction,
  { calling, code, message, raised }: RefusedOne,
): Promise<RaisedWait> {
  const now = services.clock.now();
  const place = placeOf(services, calling);
  const opened = openCall(place, calling.item, { called: undefined, now });
  const number = await tx.waits.nextNumber(calling.seen.run.id);
  const wait = settleWait(opened, { outcome: 'refused', code, message }, { number, now });
  await tx.waits.insert(wait);
  const events = [...raised.events, startedEvent(wait), endedEvent(wait)];
  return { events, opened: 0, decided: raised.decided, isAsking: false };
}

function placeOf({ ids }: Pick<StartServices, 'ids'>, { seen: { run } }: Calling) {
  const { organizationId, tenantId, sessionId, id: runId } = run;
  return { id: ids.next(idPrefixes.wait), organizationId, tenantId, sessionId, runId };
}

type RaisedParts = Pick<RaisedWait, 'events' | 'decided'>;

type Verdict =
  /** `input`: as a person has approved it, where one was asked. */
  | { readonly kind: 'allowed'; readonly input: Json; readonly raised: RaisedParts }
  | { readonly kind: 'denied'; readonly message: string; readonly raised: RaisedParts }
  | { readonly kind: 'asked'; readonly raised: RaisedParts };

const silent: RaisedParts = { events: [], decided: [] };
const notAllowed = 'The person did not allow this.';

/** Rules are about calls of agents as about those of tools, under the name `call_<agent>` (D-921). */
async function judge(
  services: StartServices,
  tx: StoreTransaction,
  { item, seen: { run }, waitMs, deciding }: Calling,
): Promise<Verdict> {
  const { ref, name, input } = item;
  const call = { toolName: `call_${name}`, input };
  const known = await tx.interactions.findByRequest(run.id, ref);
  const decision = decisionAbout(deciding, call);
  if (known !== undefined && isSettled(known)) {
    const answered = answerIn(known, call.toolName);
    if (answered.kind === 'denied' || decision?.effect !== 'deny') return answered;
  }
  const { effect = 'allow' } = decision ?? {};
  const isOpen = known !== undefined && !isSettled(known);
  if (isOpen || effect === 'ask') {
    const request = { type: 'permission_request', ref, toolName: call.toolName } as const;
    const raising = { run, waitMs, deciding, item: { ...request, toolInput: input } };
    const { interaction, events, decided } = await raiseInteraction(services, tx, raising);
    const raised = { events, decided: decided === undefined ? [] : [decided] };
    // An earlier permission of the session may have answered it.
    return isSettled(interaction)
      ? { ...answerIn(interaction, call.toolName), raised }
      : { kind: 'asked', raised };
  }
  if (decision === undefined || decision.rules.length + decision.observed.length === 0) {
    return { kind: 'allowed', input, raised: silent };
  }
  const { rules } = decision;
  const { version } = deciding.organization;
  const decided =
    rules.length === 0 ? [] : [{ effect, by: 'rule', ...call, rules, version } as const];
  const events = [...observationEvents(call, decision), ...decisionEvents(call, decision)];
  const raised = { events, decided };
  return decision.effect === 'deny'
    ? { kind: 'denied', message: decision.reason, raised }
    : { kind: 'allowed', input, raised };
}

/** The answer of a person, or of an earlier permission. A program may have asked about another call under this ref. */
function answerIn(
  interaction: SettledInteraction,
  toolName: string,
): Exclude<Verdict, { kind: 'asked' }> {
  if (interaction.kind !== 'permission' || interaction.toolName !== toolName) {
    return { kind: 'denied', message: 'Another request has the ref of this call.', raised: silent };
  }
  const { decision, message = notAllowed } = interaction.answer;
  if (decision === 'deny') return { kind: 'denied', message, raised: silent };
  return { kind: 'allowed', input: approvedInput(interaction), raised: silent };
}
