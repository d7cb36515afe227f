import { type InteractionKey, waitsShown } from '@convoke/contract';
import type { PendingInteraction } from '../interaction.ts';
import type { Wait, WaitKind } from './wait.ts';

/** Something that a run waits for, as people see it (D-855). */
export interface OpenWait {
  readonly kind: WaitKind | 'interaction';
  readonly name: string;
  readonly since: number;
  readonly until: number;
  /** Of an interaction. */
  readonly key?: InteractionKey;
}

/** What a run waits for, the oldest first. */
export function waitingOn(
  waits: readonly Wait[],
  interactions: readonly PendingInteraction[],
): readonly OpenWait[] {
  const times = waits.map(({ kind, name, createdAt, dueAt }) => ({
    kind,
    name,
    since: createdAt,
    until: dueAt ?? createdAt,
  }));
  const people = interactions.map((each) => ({
    kind: 'interaction' as const,
    name: each.kind === 'permission' ? each.toolName : 'question',
    since: each.createdAt,
    until: each.expiresAt,
    key: each.key,
  }));
  return [...times, ...people].toSorted((a, b) => a.since - b.since).slice(0, waitsShown);
}
