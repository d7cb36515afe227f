import type { InteractionRecord } from '@convoke/sdk';
import type { Signal } from '@preact/signals';

/** State that the list and the card share. */
export interface Inbox {
  /** Keys of the rows that still wait, in the order of the list. */
  readonly open: Signal<readonly string[]>;
  /** Requests that were answered on this page, by key: their records are not read again. */
  readonly answered: Signal<ReadonlyMap<string, InteractionRecord>>;
}
