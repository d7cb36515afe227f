import type { Holder } from '../app/record.ts';
import type { Json } from '../domain/json.ts';
import type { CallIntent } from '../domain/tool-call.ts';
import type { EndedCall } from '../ports/repositories/tool-calls.ts';
import type { StoreTransaction } from '../ports/store.ts';

/** A record of a leg that is no event: a checkpoint, or an entry of the ledger of tool calls. */
export type LegNote =
  | { readonly kind: 'checkpoint'; readonly state: Json; readonly isRecoveryPoint: boolean }
  | { readonly kind: 'begin'; readonly intent: CallIntent; readonly settle: Settle }
  | { readonly kind: 'end'; readonly call: EndedCall; readonly settle: Settle };

/** Called once it is known whether the entry is durable and, for an intent, whether the call may start. */
type Settle = (isDurable: boolean) => void;

export interface PlacedNote {
  readonly note: LegNote;
  /** Number of items before it: of the leg while it waits, of the batch once it is in one. */
  readonly after: number;
}

export interface NotesOfBatch {
  readonly holder: Holder;
  readonly notes: readonly PlacedNote[];
  /** Sequence number of the event before the first of the batch. */
  readonly before: number;
  /** Whether a new recovery point ends a series of losses. */
  readonly hasLosses: boolean;
}

/** Writes the notes of a batch, whose lease was proven in this transaction. Returns the intents that were refused. */
export async function recordNotes(
  tx: StoreTransaction,
  { holder, notes, before, hasLosses }: NotesOfBatch,
): Promise<ReadonlySet<LegNote>> {
  const { runId, sessionId, scope } = holder;
  const owner = { runId, tenantId: scope.tenantId };
  const refused = new Set<LegNote>();
  for (const { note } of notes) {
    if (note.kind === 'begin' && !(await tx.toolCalls.begin(owner, note.intent))) refused.add(note);
    if (note.kind === 'end') await tx.toolCalls.end(owner, note.call);
  }
  const last = notes.findLast(({ note }) => note.kind === 'checkpoint');
  if (last?.note.kind !== 'checkpoint') return refused;
  const { state, isRecoveryPoint } = last.note;
  const point = isRecoveryPoint ? { runId, seq: before + last.after } : undefined;
  await tx.sessions.saveCheckpoint(sessionId, JSON.stringify(state), point);
  if (isRecoveryPoint && hasLosses) await tx.runs.forgetLosses(runId);
  return refused;
}
