import type { Json, RunRecord } from '@convoke/sdk';

export type OpenWait = NonNullable<RunRecord['waiting_on']>[number];

/** What the run waits for beside people, whose requests have cards. */
export function waitsOf({ waiting_on: waits = [] }: Pick<RunRecord, 'waiting_on'>): OpenWait[] {
  return waits.filter(({ kind }) => kind !== 'interaction');
}

const kinds: Readonly<Record<string, string>> = {
  timer: 'Timer',
  signal: 'Message',
  run: 'Called',
  interaction: 'Request',
};

/** A server may know more kinds than this page. */
export function waitKind(kind: string): string {
  return kinds[kind] ?? kind;
}

/** `Timer cooling off`, `Message paid`. */
export function waitName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${waitKind(kind)} ${name}`;
}

export function waitEnd(outcome: string): string {
  return outcome === 'fired' ? 'over' : outcome.replaceAll('_', ' ');
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
