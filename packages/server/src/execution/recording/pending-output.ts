import type { LegNote, PlacedNote } from './leg-notes.ts';
import type { LegItem } from './raise-interactions.ts';
import type { AnnouncedContext, LegBatch } from './record-leg.ts';
import type { LegOutcome } from './record-leg-end.ts';

/** With this many unrecorded entries, or characters in them, the leg has to wait. */
const entriesMax = 1024;
const charactersMax = 8 * 1024 * 1024;
const batchMax = 512;
/** A larger item has a batch of its own. */
const batchMaxCharacters = 4 * 1024 * 1024;

interface Pending<Value> {
  readonly value: Value;
  readonly characters: number;
}

/** Items that a leg has emitted and no batch has taken yet, in order. */
export class PendingOutput {
  #items: Pending<LegItem>[] = [];
  /** Checkpoints and ledger entries, each with the number of items before it. */
  #notes: Pending<PlacedNote>[] = [];
  #characters = 0;
  /** Number of items taken into batches so far. */
  #taken = 0;
  context: AnnouncedContext | undefined;
  end: LegOutcome | undefined;

  push(item: LegItem, characters: number): void {
    this.#items.push({ value: item, characters });
    this.#characters += characters;
  }

  note(note: LegNote, characters: number): void {
    const after = this.#taken + this.#items.length;
    this.#notes.push({ value: { note, after }, characters });
    this.#characters += characters;
  }

  get isEmpty(): boolean {
    const isQuiet = this.#items.length + this.#notes.length === 0;
    return isQuiet && this.context === undefined && this.end === undefined;
  }

  /** Whether the leg has to wait before it emits more. */
  get isFull(): boolean {
    const entries = this.#items.length + this.#notes.length;
    return entries >= entriesMax || this.#characters >= charactersMax;
  }

  takeBatch(): LegBatch {
    const items = this.#items.splice(0, this.#batchLength());
    const before = this.#taken;
    this.#taken += items.length;
    const isLast = this.#items.length === 0;
    // A checkpoint covers every event before it, so it is stored with the last of them.
    const covered = this.#notes.filter(({ value }) => value.after <= this.#taken);
    this.#notes.splice(0, covered.length);
    this.#characters -= sizeOf(items) + sizeOf(covered);
    const batch: LegBatch = {
      items: items.map(({ value }) => value),
      notes: covered.map(({ value: { note, after } }) => ({
        note,
        after: Math.max(after - before, 0),
      })),
      context: this.context,
      end: isLast ? this.end : undefined,
    };
    if (isLast) this.end = undefined;
    this.context = undefined;
    return batch;
  }

  /** Drops the notes and returns them. */
  dropNotes(): readonly PlacedNote[] {
    const dropped = this.#notes.splice(0);
    this.#characters -= sizeOf(dropped);
    return dropped.map(({ value }) => value);
  }

  /** Drops everything and returns the notes. */
  drop(): readonly PlacedNote[] {
    const notes = this.dropNotes();
    this.#items = [];
    this.#characters = 0;
    this.context = undefined;
    this.end = undefined;
    return notes;
  }

  #batchLength(): number {
    let length = 0;
    let characters = 0;
    for (const item of this.#items) {
      characters += item.characters;
      if (length === batchMax || (length > 0 && characters > batchMaxCharacters)) break;
      length += 1;
    }
    return length;
  }
}

function sizeOf(entries: readonly Pending<unknown>[]): number {
  return entries.reduce((sum, { characters }) => sum + characters, 0);
}
