import type { Json, RunRecord } from '@convoke/sdk';

export type OpenWait = NonNullable<RunRecord['waiting_on']>[number];

/** What the run waits for beside people, whose requests have cards. */
export function waitsOf({ waiting_on: waits = [] }: Pick<RunRecord, 'waiting_on'>): OpenWait[] {
  return waits.filter(({ kind }) => kind !== 'interaction');
}

const kinds = { timer: 'Timer', signal: 'Message', interaction: 'Request' } as const;

export function waitKind(kind: OpenWait['kind']): string {
  return kinds[kind];
}

/** `Timer cooling off`, `Message paid`. */
export function waitName({
  kind,
  name,
}: {
  readonly kind: OpenWait['kind'];
  readonly name: string;
}) {
  return `${kinds[kind]} ${name}`;
}

const outcomes = { fired: 'over', received: 'received', timed_out: 'timed out' } as const;

export function waitEnd(outcome: keyof typeof outcomes): string {
  return outcomes[outcome];
}

export type JsonMessage =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: string };

/** The typed data of a message: any JSON value, and nothing is null. */
export function parsedMessage(text: string): JsonMessage {
  if (text.trim() === '') return { ok: true, value: null };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : 'Not valid JSON.' };
  }
}
