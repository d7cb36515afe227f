import type { UserId } from '@convoke/contract';
import {
  type Approvals,
  type Interaction,
  type InteractionAnswer,
  type PermissionAnswer,
  interactionAt,
} from '../../domain/interaction.ts';
import type { Json } from '../../domain/json.ts';
import { type Allower, type Approval, mayAllow, neededText } from '../../domain/rules/approvers.ts';
import { type AskingRule, type Decision, decide, withKeptPart } from '../../domain/rules/decide.ts';
import { type Demands, noDemands } from '../../domain/rules/demands.ts';
import { permitsWidth } from '../../domain/rules/memory.ts';
import { rulesOfAgent } from '../../domain/rules/rule.ts';
import { repeatsCall } from '../../domain/run/call-in-doubt.ts';
import type { Run } from '../../domain/run/run.ts';
import type { Repositories } from '../../ports/store.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export type RuleServices = Pick<Services, 'agents' | 'knownRules'>;
export type RuledRun = Pick<Run, 'organizationId' | 'tenantId' | 'agentName' | 'createdBy'>;

/** A tool call that a person is asked about. */
export interface AskedCall {
  readonly toolName: string;
  readonly input: Json;
  /** Whether it is in doubt, and would run once more (D-520). */
  readonly isRepeat: boolean;
  /** The rules that asked, as they were then. */
  readonly asked: readonly AskingRule[];
}

/** The call that the interaction is about; undefined for a question of the agent. */
export function callOf(interaction: Interaction): AskedCall | undefined {
  if (interaction.kind === 'permission') {
    const { toolName, toolInput: input, asked = [] } = interaction;
    return { toolName, input, isRepeat: false, asked };
  }
  if (interaction.about?.kind !== 'call_in_doubt') return undefined;
  const { toolName, toolInput: input } = interaction.about;
  return { toolName, input, isRepeat: true, asked: [] };
}

/** The current rules about a call, as far as the agent can be read; else its part as it was when it asked (D-515). */
export async function rulesOfNow(
  { agents, knownRules }: RuleServices,
  repositories: Pick<Repositories, 'rules'>,
  {
    run,
    call: { toolName, input, asked },
  }: { readonly run: RuledRun; readonly call: Omit<AskedCall, 'isRepeat'> },
): Promise<Decision> {
  const { organizationId, tenantId, agentName } = run;
  const { list: organization } = await knownRules.current(repositories, organizationId);
  const agent = agents.find(agentName);
  const lists = { agent: agent === undefined ? [] : rulesOfAgent(agent), organization };
  const decision = decide(lists, { agentName, tenantId, toolName, input });
  return agent === undefined ? withKeptPart(decision, asked) : decision;
}

/**
 * Whether the list of the agent is known. A call in doubt keeps no rules: without its agent it cannot be said who may
 * have it run again (D-1041).
 */
export function isRuled(
  { agents }: Pick<RuleServices, 'agents'>,
  { run, call }: { readonly run: RuledRun; readonly call: Pick<AskedCall, 'isRepeat'> },
): boolean {
  return !call.isRepeat || agents.find(run.agentName) !== undefined;
}

export interface AnswerToJudge {
  readonly run: RuledRun;
  readonly interaction: Interaction;
  readonly answer: InteractionAnswer;
  readonly allower: Allower;
  readonly now: number;
}

/** The demands of the current rules on an allow. */
export interface JudgedAllow {
  /** Absent where one person is enough. */
  readonly approvals?: Approvals;
  /** Of an allow that is to be remembered: the rules that it satisfies. */
  readonly satisfied?: readonly AskingRule[];
}

/**
 * Refuses an allow by a caller that may not give it, by the current rules (D-515). Undefined for every other answer:
 * only allowing is restricted (D-514).
 */
export async function judgeAllow(
  services: RuleServices,
  repositories: Pick<Repositories, 'rules' | 'organizations'>,
  judging: AnswerToJudge,
): Promise<JudgedAllow | undefined> {
  const { run, interaction, answer, now } = judging;
  const call = allowedCall(interaction, answer);
  if (call === undefined || interactionAt(interaction, now).status !== 'pending') return undefined;
  const asking = await asksFor(services, repositories, { run, call });
  if (!isRuled(services, { run, call })) {
    const message = `The agent ${run.agentName} cannot be read now, so its rules about the call are not known. Choose to skip it, or answer once the agent is back.`;
    refuse('invalid_answer', { message });
  }
  const { demands } = asking;
  const { people } = demands.approvers;
  if (people > 1 && call.isRepeat) {
    const message = `Running it again needs ${neededText(demands)}, and a question takes one answer. Choose to skip it: the agent's next call of the tool is asked about.`;
    refuse('invalid_answer', { message });
  }
  const allower = await asOfNow(repositories, run, judging.allower);
  requireAllower(demands, allower, run);
  if (answer.kind === 'permission' && answer.updatedInput !== undefined) {
    if (people > 1) {
      const message = `updated_input cannot be used where ${people} people have to allow the call: each of them has to see what runs.`;
      refuse('invalid_answer', { message });
    }
    const changed = { ...call, input: answer.updatedInput, asked: [] };
    const other = await asksFor(services, repositories, { run, call: changed });
    if (other.demands.approvers.people > 1) refuseAllower(other.demands);
    requireAllower(other.demands, allower, run);
    requireMemory([asking.demands, other.demands], answer);
    return { satisfied: other.rules };
  }
  if (answer.kind === 'permission') requireMemory([demands], answer);
  if (people === 1 || interaction.kind !== 'permission') return { satisfied: asking.rules };
  const { approvals: earlier = [] } = interaction;
  const given = await withApproval(repositories, { run, demands, earlier, allower, now });
  return { approvals: { given, needed: people } };
}

/** The call that the answer allows. */
function allowedCall(interaction: Interaction, answer: InteractionAnswer): AskedCall | undefined {
  const isAllow = answer.kind === 'permission' ? answer.decision === 'allow' : repeatsCall(answer);
  return isAllow ? callOf(interaction) : undefined;
}

interface CallOfRun {
  readonly run: RuledRun;
  readonly call: AskedCall;
}

interface Asks {
  readonly rules: readonly AskingRule[];
  readonly demands: Demands;
}

/** D-521: only as wide as every rule that asks permits. */
function requireMemory(asked: readonly Demands[], { remember }: PermissionAnswer): void {
  if (remember === undefined || asked.every((demands) => permitsWidth(demands, remember))) return;
  const message = `The rules do not permit that this allow is remembered (${remember}): can_remember of the request says how far it may be.`;
  refuse('invalid_answer', { message });
}

async function asksFor(
  services: RuleServices,
  repositories: Pick<Repositories, 'rules'>,
  asking: CallOfRun,
): Promise<Asks> {
  const decision = await rulesOfNow(services, repositories, asking);
  if (decision.effect === 'ask') return decision;
  if (decision.effect === 'allow') return { rules: [], demands: noDemands };
  const instead = asking.call.isRepeat
    ? 'Choose another answer.'
    : 'The request can only be denied.';
  return refuse('denied_by_rule', { message: `${sentence(decision.reason)} ${instead}` });
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function requireAllower(demands: Demands, allower: Allower, run: RuledRun): void {
  if (!mayAllow(demands.approvers, allower, run.createdBy)) refuseAllower(demands);
}

function refuseAllower(demands: Demands): never {
  return refuse('not_an_approver', { message: `Allowing this needs ${neededText(demands)}.` });
}

/** With the role that the person has in this transaction: it may have been withdrawn since the request came in. */
async function asOfNow(
  { organizations }: Pick<Repositories, 'organizations'>,
  { organizationId }: RuledRun,
  allower: Allower,
): Promise<Allower> {
  if (allower.kind !== 'person') return allower;
  const { id, claimedRole } = allower;
  if (claimedRole !== undefined) return { ...allower, role: claimedRole };
  const membership = await organizations.membership(organizationId, id as UserId);
  return { ...allower, role: membership?.role };
}

interface Approving {
  readonly run: RuledRun;
  readonly demands: Demands;
  readonly earlier: readonly Approval[];
  readonly allower: Allower;
  readonly now: number;
}

/** D-516: the approvals with this one. When they are enough, those of people who no longer qualify are dropped. */
async function withApproval(
  repositories: Pick<Repositories, 'organizations'>,
  { run, demands, earlier, allower, now }: Approving,
): Promise<readonly Approval[]> {
  const { approvers } = demands;
  const { id: by } = allower;
  const claimedRole = allower.kind === 'person' ? allower.claimedRole : undefined;
  const own = earlier.find((approval) => approval.by === by) ?? {
    by,
    at: now,
    ...(claimedRole !== undefined && { claimedRole }),
  };
  const others = earlier.filter((approval) => approval.by !== by);
  if (others.length + 1 < approvers.people) return [...others, own];
  const standing: Approval[] = [];
  for (const approval of others) {
    const person = { kind: 'person', id: approval.by, role: undefined } as const;
    const known = { ...person, claimedRole: approval.claimedRole };
    const current = await asOfNow(repositories, run, known);
    if (mayAllow(approvers, current, run.createdBy)) standing.push(approval);
  }
  return [...standing, own];
}
