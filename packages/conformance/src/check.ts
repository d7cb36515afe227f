import type { Kit } from './kit.ts';

/** Accounts and settings that a check needs in addition to an automation client. */
export type Need = 'owner';

export interface Check {
  /** The requirement that it proves. */
  readonly id: string;
  readonly title: string;
  readonly needs: readonly Need[];
  /** Runs when no other check does: it uses up what others need. */
  readonly isAlone: boolean;
  readonly run: (kit: Kit) => Promise<void>;
}

/** A check in two halves, with a restart of the server between them. */
export interface RestartCheck {
  readonly id: string;
  readonly title: string;
  /** Prepared last, because it has to be under way when the server stops. */
  readonly isLate: boolean;
  readonly before: (kit: Kit) => Promise<(kit: Kit, restart: Restart) => Promise<void>>;
}

/** A check in two halves: at the beginning of the run and, after all other checks, at its end. */
export interface LaterCheck {
  readonly id: string;
  readonly title: string;
  readonly before: (kit: Kit) => Promise<() => Promise<void>>;
}

export interface Restart {
  readonly startedAt: number;
}

/** Proves one requirement, with sessions of its own wherever it changes something (D-228). */
export function check(id: string, title: string, run: Check['run']): Check {
  return { id, title, needs: [], isAlone: false, run };
}

/** Needs a person who manages the organization. */
export function ownerCheck(id: string, title: string, run: Check['run']): Check {
  return { ...check(id, title, run), needs: ['owner'] };
}

export function restartCheck(
  id: string,
  title: string,
  before: RestartCheck['before'],
): RestartCheck {
  return { id, title, isLate: false, before };
}
