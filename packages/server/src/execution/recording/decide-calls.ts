import type { VersionedRules } from '../../app/rules/known-rules.ts';
import type { Holder } from '../../app/record.ts';
import type { Agent } from '../../domain/agent.ts';
import type { SettledInteraction, AnsweredPermission } from '../../domain/interaction.ts';
import { approvedInput, isSettled } from '../../domain/interaction.ts';
import { type Allow, allowFor } from '../../domain/rules/allows.ts';
import { type Decision, type MatchedRule, decide, namesTool } from '../../domain/rules/decide.ts';
import { type Memory, memoryFor } from '../../domain/rules/memory.ts';
import { type RuleList, rulesOfAgent } from '../../domain/rules/rule.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { CallToDecide, NewCall, NotBegun } from '../../ports/harness.ts';
import type { Repositories, StoreTransaction } from '../../ports/store.ts';

/** The agent's part in the decisions about the calls of a leg. */
export interface LegRules {
  readonly agentName: string;
  /** The agent's list, which counts from the next leg on (D-506). */
  readonly agent: RuleList;
  /** Who started the run: no memory of theirs counts where the starter may not allow. */
  readonly startedBy: string | null;
}

/** Of an agent that is gone, whose leg only ends: it has none. */
export function legRules(agent: Agent | undefined, startedBy: string | null): LegRules {
  if (agent === undefined) return { agentName: '', agent: [], startedBy };
  return { agentName: agent.name, agent: rulesOfAgent(agent), startedBy };
}

/** The document was replaced since this server read it: nothing of the transaction may be written (D-506). */
export class OutdatedRules extends Error {
  override readonly name = 'OutdatedRules';
}

/** Throws where the decisions of this transaction were made by an older document. */
export async function requireVersion(
  tx: StoreTransaction,
  { scope }: Holder,
  { version }: VersionedRules,
): Promise<void> {
  const now = await tx.rules.version(scope.organizationId);
  if (now !== version) throw new OutdatedRules('the rules of the organization have changed');
}

export interface Deciding {
  readonly holder: Holder;
  readonly rules: LegRules;
  readonly organization: VersionedRules;
}

/** The verdict of the rules; undefined for an entry that is no tool call (D-509). */
export function decisionAbout(
  { holder, rules, organization }: Deciding,
  { toolName, input, wholeInput = input, kind }: Omit<CallToDecide, 'ref'>,
): Decision | undefined {
  if (kind !== undefined) return undefined;
  const { tenantId } = holder.scope;
  const { agentName, agent } = rules;
  return decide(
    { agent, organization: organization.list },
    { agentName, tenantId, toolName, input: wholeInput },
  );
}

/** Whether a rule may decide about calls of the tool. */
export function isNamed(
  { holder, rules, organization }: Deciding,
  { toolName }: Pick<CallToDecide, 'toolName'>,
): boolean {
  const { tenantId } = holder.scope;
  const lists = { agent: rules.agent, organization: organization.list };
  return namesTool(lists, { agentName: rules.agentName, tenantId, toolName });
}

/** Whether no rule has anything to say about the call. */
export function isSilent(decision: Decision | undefined): boolean {
  if (decision === undefined) return true;
  const { effect, rules, observed } = decision;
  return effect === 'allow' && rules.length === 0 && observed.length === 0;
}

export type Standing =
  | {
      readonly kind: 'allowed';
      readonly spends?: AnsweredPermission['key'];
      /** The earlier allow of the session that allows it (D-521). */
      readonly memory?: Memory;
    }
  /** `isNew`: the denial is not stored yet. */
  | (Extract<NotBegun, { kind: 'denied' }> & { readonly isNew: boolean })
  | Extract<NotBegun, { kind: 'ask' }>;

interface KeyedAllow extends Allow {
  readonly key: AnsweredPermission['key'];
}

/** The run's record of the calls of a batch. */
export interface KnownAnswers {
  readonly answered: readonly SettledInteraction[];
  /**
   * Calls in doubt that a person wants carried out once more: an allow, too (D-762), where no rule denies them (D-903).
   */
  readonly repeated: readonly Allow[];
  readonly memories: readonly Memory[];
  readonly startedBy: string | null;
}

/** Whether a call may begin, by the rules of this moment and the run's record. */
export function standingOf(
  call: CallToDecide,
  decision: Decision | undefined,
  { answered, repeated, memories, startedBy }: KnownAnswers,
): Standing {
  const denied = denialIn(call, answered);
  if (denied !== undefined) return { ...denied, isNew: false };
  if (decision === undefined || decision.effect === 'allow') return { kind: 'allowed' };
  if (decision.effect === 'deny') return { kind: 'denied', reason: decision.reason, isNew: true };
  const found = allowFor<KeyedAllow | Allow>(call, [...answered.flatMap(allowIn), ...repeated]);
  if (found === undefined) {
    const { demands } = decision;
    const memory = memoryFor({ ...call, demands, startedBy }, memories);
    return memory === undefined ? { kind: 'ask' } : { kind: 'allowed', memory };
  }
  return { kind: 'allowed', ...('key' in found && { spends: found.key }) };
}

/** The run's record of calls, with the refs of all requests about them. */
export interface ReadAnswers extends KnownAnswers {
  readonly taken: ReadonlySet<string>;
}

/**
 * Reads what decides about calls that a rule is about. Denials of other calls are not among it: an agent can cause any
 * number of them (D-1044).
 */
export async function readAnswers(
  { interactions, toolCalls }: Pick<Repositories, 'interactions' | 'toolCalls'>,
  {
    deciding: { holder, rules },
    calls,
  }: {
    readonly deciding: Deciding;
    readonly calls: readonly Pick<CallToDecide, 'ref' | 'toolName'>[];
  },
): Promise<ReadAnswers> {
  const { runId } = holder;
  const toolNames = calls.map(({ toolName }) => toolName);
  const [own, usable, again, memories] = await Promise.all([
    interactions.ofRequests(
      runId,
      calls.flatMap(({ ref }) => refsOfDenial(ref)),
    ),
    interactions.usable(runId, calls),
    toolCalls.toRepeat(runId),
    interactions.memories(memoriesOf(holder, toolNames)),
  ]);
  const answered = [...own.filter(isSettled), ...usable];
  const repeated = again.map((call) => ({ ...call, spentOn: call.ref }));
  const taken = new Set(own.map(({ requestId }) => requestId));
  return { answered, repeated, memories, startedBy: rules.startedBy, taken };
}

/** The allows that the session of the run remembers of these tools. */
export function memoriesOf({ scope, sessionId }: Holder, toolNames: readonly string[]) {
  return { tenantId: scope.tenantId, sessionId, toolNames: [...new Set(toolNames)] };
}

/** Reads only whether calls that no rule is about were denied before. */
export async function readDenials(
  { interactions }: Pick<Repositories, 'interactions'>,
  { runId }: Pick<Holder, 'runId'>,
  refs: readonly string[],
): Promise<KnownAnswers> {
  const known = await interactions.ofRequests(runId, refs.flatMap(refsOfDenial));
  return { answered: known.filter(isSettled), repeated: [], memories: [], startedBy: null };
}

/** The refs under which a denial of the call may be stored: its own, or another if a person had allowed it (D-761). */
export function refsOfDenial(ref: string): readonly [string, string] {
  return [ref, `${ref} denied`];
}

/** D-510: a denial is final for its call, even if the rules have changed since. */
function denialIn({ ref }: CallToDecide, answered: readonly SettledInteraction[]) {
  const refs = refsOfDenial(ref);
  for (const interaction of answered) {
    if (interaction.kind !== 'permission' || !refs.includes(interaction.requestId)) continue;
    const { decision, message } = interaction.answer;
    if (decision === 'deny') return { kind: 'denied', reason: message ?? notAllowed } as const;
  }
  return undefined;
}

const notAllowed = 'The person did not allow this.';

function allowIn(interaction: SettledInteraction): readonly KeyedAllow[] {
  if (interaction.kind !== 'permission' || interaction.status === 'expired') return [];
  if (interaction.answer.decision !== 'allow') return [];
  const { key, requestId: ref, toolName, spentOn } = interaction;
  const input = approvedInput(interaction);
  return [{ key, ref, toolName, input, ...(spentOn !== undefined && { spentOn }) }];
}

type ShownCall = Pick<NewCall, 'toolName' | 'toolCallId'>;

/** D-525: what rules would have done that only observe. */
export function observationEvents(
  call: ShownCall,
  { observed }: Pick<Decision, 'observed'>,
): readonly RunEventDraft[] {
  return observed.map(({ effect, ...rule }) => {
    const data = { ...shown(call), effect, by: 'rule', rules: [{ ...rule }], observed: true };
    return { type: 'call_decided', data };
  });
}

/** D-523: what readers of the log learn of a decision that no person made. */
export function decisionEvents(
  call: ShownCall,
  { effect, rules }: Decision,
  interactionKey?: string,
): readonly RunEventDraft[] {
  if (effect === 'ask' || rules.length === 0) return [];
  const held = interactionKey === undefined ? {} : { interaction_key: interactionKey };
  const data = { ...shown(call), ...held, effect, by: 'rule', rules: named(rules) };
  return [{ type: 'call_decided', data }];
}

/** D-521: what readers learn of a call that an earlier allow of the session allows. */
export function memoryEvents(
  call: ShownCall,
  rules: readonly MatchedRule[],
  { key: interaction_key }: Pick<Memory, 'key'>,
): readonly RunEventDraft[] {
  const data = {
    ...shown(call),
    interaction_key,
    effect: 'allow',
    by: 'memory',
    rules: named(rules),
  };
  return [{ type: 'call_decided', data }];
}

function named(rules: readonly MatchedRule[]) {
  return rules.map(({ source, name, reason }) => ({
    source,
    name,
    ...(reason !== undefined && { reason }),
  }));
}

function shown({ toolName, toolCallId }: ShownCall) {
  return { tool_name: toolName, ...shownId(toolCallId) };
}

/** A provider may choose a longer id; then readers know the call by its name (D-192). */
const callIdMaxCharacters = 500;

export function shownId(toolCallId: string | undefined): { readonly tool_call_id?: string } {
  if (toolCallId === undefined || toolCallId.length > callIdMaxCharacters) return {};
  return { tool_call_id: toolCallId };
}
