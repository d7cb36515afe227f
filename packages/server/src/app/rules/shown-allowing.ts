import type { InteractionKey, RunId } from '@convoke/contract';
import type { Interaction, PendingPermission } from '../../domain/interaction.ts';
import { type Allower, type Approval, mayAllow } from '../../domain/rules/approvers.ts';
import { type AskingRule, type MatchedRule, demandsOf } from '../../domain/rules/decide.ts';
import { type Demands, noDemands } from '../../domain/rules/demands.ts';
import type { Repositories } from '../../ports/store.ts';
import type { Services } from '../services.ts';
import { type RuleServices, type RuledRun, callOf, isRuled, rulesOfNow } from './allowing.ts';

/** What a reader of a pending interaction learns about allowing it. */
export interface ShownAllowing {
  readonly rules: readonly MatchedRule[];
  readonly demands: Demands;
  readonly canAllow: boolean;
}

/** A caller that reads interactions. */
export interface AllowingReader {
  readonly allower: Allower;
  /** Whether it may answer at all. */
  readonly mayAnswer: boolean;
}

interface AskedCall {
  readonly asked?: readonly AskingRule[] | undefined;
  readonly approvals?: readonly Approval[] | undefined;
}

/** By what held when it was asked, which costs nothing: for lists (D-515). */
export function allowingAsAsked(
  { asked = [], approvals }: AskedCall,
  reader: AllowingReader,
  startedBy: string | null,
): ShownAllowing {
  const demands = demandsOf(asked);
  return { rules: asked, demands, canAllow: canAllow({ demands, approvals }, reader, startedBy) };
}

/** Of interactions of one session, those that are pending permissions. */
export async function allowingIn(
  { store }: Pick<Services, 'store'>,
  interactions: readonly Interaction[],
  reader: AllowingReader,
): Promise<ReadonlyMap<InteractionKey, ShownAllowing>> {
  const pending = interactions.filter(
    (each): each is PendingPermission => each.status === 'pending' && each.kind === 'permission',
  );
  const starters = new Map<RunId, string | null>();
  for (const { organizationId, tenantId, runId } of pending) {
    // One run of a session executes at a time, so there is hardly ever a second one.
    if (starters.has(runId)) continue;
    const run = await store.read.runs.findById({ organizationId, tenantId }, runId);
    starters.set(runId, run?.createdBy ?? null);
  }
  return new Map(
    pending.map((each) => [
      each.key,
      allowingAsAsked(each, reader, starters.get(each.runId) ?? null),
    ]),
  );
}

/** By the current rules, as an answer is judged. Undefined for what is not pending, or is not about a call. */
export async function allowingNow(
  services: RuleServices,
  repositories: Pick<Repositories, 'rules'>,
  {
    interaction,
    run,
    reader,
  }: { readonly interaction: Interaction; readonly run: RuledRun; readonly reader: AllowingReader },
): Promise<ShownAllowing | undefined> {
  const call = interaction.status === 'pending' ? callOf(interaction) : undefined;
  if (call === undefined) return undefined;
  const decision = await rulesOfNow(services, repositories, { run, call });
  const { effect, rules } = decision;
  if (effect === 'deny' || !isRuled(services, { run, call })) {
    return { rules, demands: noDemands, canAllow: false };
  }
  if (effect === 'allow') {
    return { rules: [], demands: noDemands, canAllow: reader.mayAnswer };
  }
  const { demands } = decision;
  const approvals = interaction.kind === 'permission' ? interaction.approvals : undefined;
  const isOneAnswer = !call.isRepeat || demands.approvers.people === 1;
  const may = isOneAnswer && canAllow({ demands, approvals }, reader, run.createdBy);
  return { rules, demands, canAllow: may };
}

function canAllow(
  {
    demands: { approvers },
    approvals = [],
  }: Pick<AskedCall, 'approvals'> & { readonly demands: Demands },
  { allower, mayAnswer }: AllowingReader,
  startedBy: string | null,
): boolean {
  const hasAllowed = approvers.people > 1 && approvals.some(({ by }) => by === allower.id);
  return mayAnswer && !hasAllowed && mayAllow(approvers, allower, startedBy);
}
