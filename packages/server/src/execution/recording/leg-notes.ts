import type { Holder } from '../../app/record.ts';
import type { FolderState } from '../../domain/folder-snapshot.ts';
import type { Json } from '../../domain/json.ts';
import type { CallIntent } from '../../domain/run/tool-call.ts';
import type { UsageEntry } from '../../domain/usage/usage.ts';
import type { EndedCall } from '../../ports/repositories/runs/tool-calls.ts';
import type { CheckpointMaker } from '../../ports/repositories/runs/sessions.ts';
import type { BeginOutcome, NewCall, NotBegun } from '../../ports/harness.ts';
import type { StoreTransaction } from '../../ports/store.ts';

/** A record of a leg that is no event: a checkpoint, or an entry of the ledger of tool calls or of usage. */
export type LegNote =
  | { readonly kind: 'checkpoint'; readonly state: Json; readonly isRecoveryPoint: boolean }
  | { readonly kind: 'usage'; readonly entry: UsageEntry; readonly settle?: Settle }
  | {
      readonly kind: 'begin';
      readonly intent: NewIntent;
      /** State of the session folder before the call, if it was archived for it (D-92). */
      readonly snapshot?: FolderState | undefined;
      /** Called once the intent or the denial is durable, or neither can be. */
      readonly settle: (begun: BeginOutcome) => void;
    }
  | {
      readonly kind: 'end';
      readonly call: EndedCall;
      /** A recovery point that covers the text of the call (D-175). */
      readonly point?: Json | undefined;
      readonly settle: Settle;
    };

/** The intent of a call, with what only the decision about it needs. */
export type NewIntent = CallIntent & Pick<NewCall, 'wholeInput' | 'kind' | 'toolCallId'>;

/** Called once it is known whether the entry is durable. */
type Settle = (isDurable: boolean) => void;

export interface PlacedNote {
  readonly note: LegNote;
  /** Number of items before it: of the leg while it waits, of the batch once it is in one. */
  readonly after: number;
}

export interface NotesOfBatch {
  readonly holder: Holder;
  readonly notes: readonly PlacedNote[];
  /** Sequence number that the first event of the batch follows. */
  readonly before: number;
  /** Whether a new recovery point ends a series of losses. */
  readonly hasLosses: boolean;
  readonly maker: CheckpointMaker;
  /** Calls that do not begin, as it was decided. */
  readonly refused: ReadonlyMap<LegNote, NotBegun>;
}

/** Writes the notes of a batch, whose lease was proven in this transaction. Returns the calls that do not begin. */
export async function recordNotes(
  tx: StoreTransaction,
  { holder, notes, before, hasLosses, maker, ...decided }: NotesOfBatch,
): Promise<ReadonlyMap<LegNote, NotBegun>> {
  const { runId, sessionId, scope } = holder;
  const owner = { runId, tenantId: scope.tenantId };
  const refused = new Map(decided.refused);
  for (const { note } of notes) {
    if (note.kind === 'begin' && !refused.has(note)) {
      const isBegun = await tx.toolCalls.begin(owner, note.intent);
      if (!isBegun) refused.set(note, { kind: 'left' });
    }
    if (note.kind === 'end') await tx.toolCalls.end(owner, note.call);
  }
  const last = notes.findLast(({ note }) => checkpointIn(note) !== undefined);
  const checkpoint = last && checkpointIn(last.note);
  if (last === undefined || checkpoint === undefined) return refused;
  const { state, isRecoveryPoint } = checkpoint;
  const point = isRecoveryPoint ? { runId, seq: before + last.after } : undefined;
  tx.sessions.saveCheckpoint(sessionId, { text: JSON.stringify(state), point, ...maker });
  if (isRecoveryPoint && hasLosses) await tx.runs.forgetLosses(runId);
  return refused;
}

function checkpointIn(note: LegNote): Pick<Checkpoint, 'state' | 'isRecoveryPoint'> | undefined {
  if (note.kind === 'checkpoint') return note;
  if (note.kind !== 'end' || note.point === undefined) return undefined;
  return { state: note.point, isRecoveryPoint: true };
}

type Checkpoint = Extract<LegNote, { kind: 'checkpoint' }>;
