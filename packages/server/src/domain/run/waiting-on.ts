import { type InteractionKey, type RunId, type SessionId, waitsShown } from '@convoke/contract';
import type { PendingInteraction } from '../interaction.ts';
import { isoTime } from '../iso-time.ts';
import type { Wait, WaitKind } from './wait.ts';

/** Something that a run waits for, as people see it (D-855). */
export interface OpenWait {
  readonly kind: WaitKind | 'interaction';
  readonly name: string;
  readonly since: number;
  /** Undefined for a called run that may take any time. */
  readonly until: number | undefined;
  /** Of an interaction. */
  readonly key?: InteractionKey;
  /** The run that it has called. */
  readonly called?: { readonly runId: RunId; readonly sessionId: SessionId };
}

/** Why a message has to wait, for a person who reads it in a chat. */
export function sleepWords({ name, dueAt }: Pick<Wait, 'name' | 'dueAt'>): string {
  const until = dueAt === null ? '' : ` until ${isoTime(dueAt).slice(0, 16).replace('T', ' ')} UTC`;
  return `The agent waits${until} for "${name}".`;
}

/** The waits of a run, the oldest first. */
export function waitingOn(
  waits: readonly Wait[],
  interactions: readonly PendingInteraction[],
): readonly OpenWait[] {
  const times = waits.map(({ kind, name, createdAt, dueAt, childRunId, childSessionId }) => ({
    kind,
    name,
    since: createdAt,
    until: dueAt ?? undefined,
    ...(childRunId !== null &&
      childSessionId !== null && {
        called: { runId: childRunId, sessionId: childSessionId },
      }),
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
