import { idPrefixes, interactionKey } from '@convoke/contract';
import type { DecidedCall } from '../../app/rules/decided-calls.ts';
import type { Services } from '../../app/services.ts';
import { askedRules } from '../../domain/run/interaction-event.ts';
import { type AnsweredPermission, deniedByRule } from '../../domain/interaction.ts';
import type { Decision } from '../../domain/rules/decide.ts';
import type { Memory } from '../../domain/rules/memory.ts';
import type { RunEventDraft } from '../../domain/run/run-event.ts';
import type { NotBegun } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import {
  type Deciding,
  type KnownAnswers,
  type Standing,
  decisionAbout,
  decisionEvents,
  isSilent,
  memoryEvents,
  observationEvents,
  readAnswers,
  readDenials,
  refsOfDenial,
  standingOf,
} from './decide-calls.ts';
import type { LegNote, PlacedNote } from './leg-notes.ts';
import type { LegItem } from './raise-interactions.ts';

type BeginNote = Extract<LegNote, { kind: 'begin' }>;

interface Batch {
  readonly items: readonly LegItem[];
  readonly notes: readonly PlacedNote[];
}

/** A batch whose calls are decided, and of which nothing is written yet. */
export interface DecidedBatch extends Batch {
  /** Calls that do not begin. */
  readonly refused: ReadonlyMap<LegNote, NotBegun>;
  readonly denials: readonly AnsweredPermission[];
  readonly spent: readonly SpentAllow[];
  /** For the audit log and the metrics. */
  readonly decided: readonly DecidedCall[];
}

/** An allow, and the call that uses it up (D-519). */
interface SpentAllow {
  readonly key: AnsweredPermission['key'];
  readonly ref: string;
}

/** The calls of a batch that rules can be about. */
export function beginsOf({ notes }: Pick<Batch, 'notes'>): readonly BeginNote[] {
  return notes.flatMap(({ note }) =>
    note.kind === 'begin' && note.intent.kind === undefined ? [note] : [],
  );
}

/**
 * Decides about the calls of a batch (D-507). It reads nothing where no rule is about any of them: whether one was
 * denied before is then looked up in the message of the append (`storedDenials`).
 */
export async function decideBatch(
  services: Pick<Services, 'ids' | 'clock'>,
  tx: StoreTransaction,
  { batch, ...deciding }: Deciding & { readonly batch: Batch },
): Promise<DecidedBatch> {
  const { items, notes } = batch;
  const begins = beginsOf(batch);
  const decisions = new Map(begins.map((note) => [note, decisionAbout(deciding, note.intent)]));
  if (begins.every((note) => isSilent(decisions.get(note)))) {
    return { items, notes, refused: new Map(), denials: [], spent: [], decided: [] };
  }
  const { taken, ...answers } = await readAnswers(tx, {
    deciding,
    calls: begins.map(({ intent }) => intent),
  });
  const calls = new CallsOfBatch(services, { deciding, answers, taken });
  const placed: LegItem[] = [];
  let from = 0;
  const moved = notes.map(({ note, after }): PlacedNote => {
    placed.push(...items.slice(from, after));
    from = Math.max(from, after);
    const decision = note.kind === 'begin' ? decisions.get(note) : undefined;
    if (note.kind === 'begin' && decision !== undefined) placed.push(...calls.take(note, decision));
    return { note, after: placed.length };
  });
  placed.push(...items.slice(from));
  const { refused, denials, spent, decided } = calls;
  return { items: placed, notes: moved, refused, denials, spent, decided };
}

interface KnownDecisions {
  readonly deciding: Deciding;
  readonly answers: KnownAnswers;
  /** Refs that have an interaction. */
  readonly taken: ReadonlySet<string>;
}

/** Decides one call after the other: an allow that one uses is gone for the next. */
class CallsOfBatch {
  readonly #services: Pick<Services, 'ids' | 'clock'>;
  readonly #known: KnownDecisions;
  #answers: KnownAnswers;
  readonly refused = new Map<LegNote, NotBegun>();
  readonly denials: AnsweredPermission[] = [];
  readonly spent: SpentAllow[] = [];
  readonly decided: DecidedCall[] = [];

  constructor(services: Pick<Services, 'ids' | 'clock'>, known: KnownDecisions) {
    this.#services = services;
    this.#known = known;
    this.#answers = known.answers;
  }

  /** Returns the events of the decision. */
  take(note: BeginNote, decision: Decision): readonly RunEventDraft[] {
    const { intent } = note;
    const standing = standingOf(intent, decision, this.#answers);
    switch (standing.kind) {
      case 'allowed':
        if (standing.spends !== undefined) this.#spend(standing.spends, intent.ref);
        return [
          ...this.#observed(note, decision),
          ...(standing.memory === undefined
            ? this.#say(note, decision)
            : this.#recall(note, decision, standing.memory)),
        ];
      case 'ask':
        this.refused.set(note, standing);
        // The request shows the observation.
        return [];
      case 'denied': {
        const { kind, reason, isNew } = standing;
        this.refused.set(note, { kind, reason });
        if (!isNew) return [];
        const observed = this.#observed(note, decision);
        return [
          ...observed,
          ...this.#say(note, denying(decision, reason), this.#deny(note, standing)),
        ];
      }
      default:
        return standing satisfies never;
    }
  }

  /** Once for each call: one that a person was asked about has been observed with the request (D-525). */
  #observed({ intent }: BeginNote, decision: Decision): readonly RunEventDraft[] {
    return this.#known.taken.has(intent.ref) ? [] : observationEvents(intent, decision);
  }

  #say({ intent }: BeginNote, decision: Decision, key?: AnsweredPermission['key']) {
    const { effect, rules } = decision;
    if (effect !== 'ask' && rules.length > 0) {
      const { version } = this.#known.deciding.organization;
      const { toolName, input } = intent;
      const call = { effect, by: 'rule', toolName, input, rules, version } as const;
      this.decided.push({ ...call, ...(key !== undefined && { key }) });
    }
    return decisionEvents(intent, decision, key);
  }

  #recall({ intent }: BeginNote, { rules }: Decision, memory: Memory): readonly RunEventDraft[] {
    const { version } = this.#known.deciding.organization;
    const { toolName, input } = intent;
    const { key } = memory;
    this.decided.push({ effect: 'allow', by: 'memory', toolName, input, rules, version, key });
    return memoryEvents(intent, rules, memory);
  }

  #spend(key: AnsweredPermission['key'], ref: string): void {
    this.spent.push({ key, ref });
    const answered = this.#answers.answered.map((each) =>
      each.key === key && each.kind === 'permission' ? { ...each, spentOn: ref } : each,
    );
    this.#answers = { ...this.#answers, answered };
  }

  /** D-510: as an interaction under the ref of the call, of which a replay gets the same answer. */
  #deny(
    { intent }: BeginNote,
    { reason }: Extract<Standing, { kind: 'denied' }>,
  ): AnsweredPermission['key'] {
    const { ids, clock } = this.#services;
    const { deciding, taken } = this.#known;
    const { runId, sessionId, scope } = deciding.holder;
    const { ref, toolName, input: toolInput } = intent;
    const [own, other] = refsOfDenial(ref);
    const key = interactionKey(ids.next(idPrefixes.interaction));
    const request = { kind: 'permission', toolName, toolInput } as const;
    const requestId = taken.has(own) ? other : own;
    const identity = { ...scope, key, sessionId, runId, requestId };
    const now = clock.now();
    this.denials.push({ ...deniedByRule({ ...identity, request, reason }, now), appliedAt: now });
    return key;
  }
}

/** A rule that asks may end in a denial: its event says so, without what the rule demands. */
function denying(decision: Decision, reason: string): Decision {
  if (decision.effect !== 'ask') return decision;
  const { observed, rules } = decision;
  return { observed, effect: 'deny', rules: askedRules(rules), reason };
}

/** Stores the decisions, after the proof of the lease. */
export async function recordDecisions(
  tx: StoreTransaction,
  { denials, spent }: Pick<DecidedBatch, 'denials' | 'spent'>,
): Promise<void> {
  for (const denial of denials) await tx.interactions.insert(denial);
  for (const { key, ref } of spent) await tx.interactions.spend(key, ref);
}

/** Denials of earlier legs among calls that no rule is about now (D-510). */
export async function storedDenials(
  tx: StoreTransaction,
  {
    holder,
    begins,
  }: { readonly holder: Deciding['holder']; readonly begins: readonly BeginNote[] },
): Promise<ReadonlyMap<LegNote, NotBegun>> {
  const refs = begins.map(({ intent }) => intent.ref);
  const answers = await readDenials(tx, holder, refs);
  const denied = new Map<LegNote, NotBegun>();
  for (const note of begins) {
    const standing = standingOf(note.intent, undefined, answers);
    if (standing.kind === 'denied') denied.set(note, { kind: 'denied', reason: standing.reason });
  }
  return denied;
}

/** The outcome of the calls of a batch that was committed, when only the answer of its commit was lost. */
export async function committedCalls(
  tx: StoreTransaction,
  { notes, ...deciding }: Deciding & Pick<Batch, 'notes'>,
): Promise<ReadonlyMap<LegNote, NotBegun>> {
  const begins = notes.flatMap(({ note }) => (note.kind === 'begin' ? [note] : []));
  if (begins.length === 0) return new Map();
  const { runId } = deciding.holder;
  const [calls, denied] = await Promise.all([
    tx.toolCalls.ofRun(runId),
    storedDenials(tx, { holder: deciding.holder, begins }),
  ]);
  const isBegun = ({ ref, epoch }: BeginNote['intent']) =>
    calls.some((call) => call.ref === ref && call.epoch === epoch && call.status === 'begun');
  return new Map(
    begins
      .filter(({ intent }) => !isBegun(intent))
      .map((note): [LegNote, NotBegun] => {
        const isAsked = decisionAbout(deciding, note.intent)?.effect === 'ask';
        return [note, denied.get(note) ?? { kind: isAsked ? 'ask' : 'left' }];
      }),
  );
}
