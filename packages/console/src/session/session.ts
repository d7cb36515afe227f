import type { MeRecord, WorkspaceRecord } from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { Resources } from '../data/resource.ts';
import { type PersonToken, SignInRequired } from './code-flow.ts';
import { type RenewedToken, personTokens } from './tokens.ts';

export type SessionState =
  | { readonly kind: 'starting' }
  /** Without HTTPS, a browser offers neither Web Crypto nor Web Locks, except on localhost. */
  | { readonly kind: 'insecure' }
  | { readonly kind: 'leaving' }
  | { readonly kind: 'signed-out' }
  /** This tab was opened for the sign-in of another one, which continues. */
  | { readonly kind: 'done-here' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'in'; readonly me: MeRecord; readonly workspaces: readonly WorkspaceRecord[] };

const state = signal<SessionState>({ kind: 'starting' });
export const session: ReadonlySignal<SessionState> = state;

const ended = signal(false);
/**
 * The sign-in ended while the page was open: the page stays, with all typed text, until the person has signed in again.
 */
export const hasEnded: ReadonlySignal<boolean> = ended;

/** Data that the page has read, kept while this person is signed in. */
export const resources = new Resources();

let person: RenewedToken<PersonToken> = personTokens();

export function changeSession(next: SessionState): void {
  state.value = next;
}

/** The token of the person, fetched or renewed where needed. */
export function personTokenSource(): RenewedToken<PersonToken> {
  return person;
}

/** Marks the end of the browser's session. Typed text is not lost. */
function endSession(): void {
  if (state.value.kind === 'in') ended.value = true;
}

/** The person has signed in again. */
export function resumeSession(): void {
  ended.value = false;
  resources.retryFailed();
}

/** Drops everything of the person that this module holds. */
export function forgetPerson(): void {
  person.forget();
  person = personTokens();
  resources.clear();
  ended.value = false;
  state.value = { kind: 'signed-out' };
}

/** Runs a request for a token; when the browser's session has ended, the page says so. */
export async function whileSignedIn<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof SignInRequired) endSession();
    throw error;
  }
}

/** The name of the person at this page, for records that hold ids; others are shown by their id. */
export function personName(id: string): string {
  const { value } = state;
  return value.kind === 'in' && value.me.user_id === id ? nameOfPerson(value.me) : id;
}

/** The display name of a person: their name, else their address, else their id. */
export function nameOfPerson(person: Pick<MeRecord, 'user_id' | 'name' | 'email'>): string {
  return person.name ?? person.email ?? person.user_id;
}

/** Whether the person who is signed in owns the organization: only an owner makes and manages owners. */
export function isOwner(org: string): boolean {
  return hasRole(org, ['owner']);
}

/** Whether the person who is signed in manages the organization, and with it what belongs to its tenants. */
export function isManager(org: string): boolean {
  return hasRole(org, ['owner', 'admin']);
}

function hasRole(org: string, roles: readonly string[]): boolean {
  const now = session.value;
  if (now.kind !== 'in') return false;
  return now.me.memberships.some(
    ({ organization_id: id, role }) => id === org && roles.includes(role),
  );
}

/** Whether this is the person who is signed in. */
export function isSelf({ user_id: id }: Pick<MeRecord, 'user_id'>): boolean {
  const now = session.value;
  return now.kind === 'in' && now.me.user_id === id;
}
