import type { InteractionRecord } from '@convoke/sdk';
import type { Signal } from '@preact/signals';

/** What the list and the card know of each other. */
export interface Inbox {
  /** Keys of the rows that still wait, in the order of the list. */
  readonly open: Signal<readonly string[]>;
  /** What was answered here, by key: the page has these records and does not read them again. */
  readonly answered: Signal<ReadonlyMap<string, InteractionRecord>>;
}
