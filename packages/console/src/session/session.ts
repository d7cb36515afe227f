import {
  Convoke,
  ConvokeAdmin,
  type Fetch,
  type MeRecord,
  type WorkspaceRecord,
} from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { inBackground } from '../data/in-background.ts';
import { Resources } from '../data/resource.ts';
import { consoleRoot, safeReturn } from '../data/routes.ts';
import { navigate } from '../page/router.ts';
import { type PersonToken, SignInRequired, baseUrl } from './code-flow.ts';
import { answerFromTab, handOver } from './handover.ts';
import { keepReturn, signIn, takeReturn } from './sign-in.ts';
import { type RenewedToken, personTokens, tenantTokens } from './tokens.ts';

export type SessionState =
  | { readonly kind: 'starting' }
  /** Without HTTPS, away from this machine, a browser offers neither Web Crypto nor Web Locks. */
  | { readonly kind: 'insecure' }
  | { readonly kind: 'leaving' }
  | { readonly kind: 'signed-out' }
  /** This tab was opened for the sign-in of another one, which goes on. */
  | { readonly kind: 'done-here' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'in'; readonly me: MeRecord; readonly workspaces: readonly WorkspaceRecord[] };

const state = signal<SessionState>({ kind: 'starting' });
export const session: ReadonlySignal<SessionState> = state;

const ended = signal(false);
/** The sign-in has ended while the page was used: it stays, with what was typed, until the person has signed in again. */
export const hasEnded: ReadonlySignal<boolean> = ended;

/** What the page has read, for as long as this person is signed in. */
export const resources = new Resources();

let person: RenewedToken<PersonToken> = personTokens();
const tenants = new Map<string, TenantScope>();
const organizations = new Map<string, ConvokeAdmin>();

/** One tenant as the screens use it. */
export interface TenantScope {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly tenantId: string;
  readonly name: string;
  readonly client: Convoke;
  /** The same client with another `fetch`, to see a connection open. */
  readonly clientWith: (fetch: Fetch) => Convoke;
  /** Scopes of the person here; empty until the first token has come. */
  readonly scopes: ReadonlySignal<readonly string[]>;
}

/** Signs in without a page if the browser has a session; otherwise leaves for the sign-in page. */
export async function startSession(): Promise<void> {
  if (!isSecureContext) {
    state.value = { kind: 'insecure' };
    return;
  }
  if (location.pathname.endsWith('/callback')) {
    const answer = new URLSearchParams(location.search);
    const kept = takeReturn();
    navigate(safeReturn(kept), { replace: true });
    // Without an address to return to, this tab did not leave for the sign-in: another one may have opened it.
    if (kept === null && (await handOver(answer))) {
      state.value = { kind: 'done-here' };
      window.close();
    } else {
      await enter(answer);
    }
  } else {
    await enter();
  }
}

/** `answer` stood in the address when the browser came back from the sign-in page. */
export async function enter(answer?: URLSearchParams): Promise<void> {
  state.value = { kind: 'starting' };
  try {
    if (answer !== undefined) (await signIn()).returned(answer);
    await person.get();
    const [me, workspaces] = await Promise.all([accountClient().me(), readWorkspaces()]);
    state.value = { kind: 'in', me, workspaces };
    listenToTabs();
  } catch (error) {
    if (error instanceof SignInRequired) return leaveForSignIn();
    state.value = { kind: 'failed', error };
  }
}

/** The address of the person at this page, for records that hold ids; others are shown by their id. */
export function personName(id: string): string {
  const { value } = state;
  return value.kind === 'in' && value.me.user_id === id ? (value.me.email ?? id) : id;
}

/** Reads tenants again, after one was created or offboarded. */
export async function refreshWorkspaces(): Promise<void> {
  const workspaces = await readWorkspaces();
  // The person may have signed out meanwhile.
  const { value } = state;
  if (value.kind === 'in') state.value = { ...value, workspaces };
}

async function readWorkspaces(): Promise<WorkspaceRecord[]> {
  const workspaces: WorkspaceRecord[] = [];
  for await (const workspace of accountClient().workspaces({ limit: 100 }))
    workspaces.push(workspace);
  return workspaces;
}

export async function leaveForSignIn(): Promise<void> {
  state.value = { kind: 'leaving' };
  try {
    keepReturn(safeReturn(location.pathname + location.search));
    await (await signIn()).leave();
  } catch (error) {
    state.value = { kind: 'failed', error };
  }
}

let waiting: AbortController | undefined;

/**
 * Opens the sign-in page in another tab and goes on here when the person is back. A browser that opens no tab leaves this
 * page instead.
 */
export async function signInAgain(): Promise<void> {
  // Opened at once: a browser allows it only as the answer to a click.
  const tab = window.open('', '_blank');
  if (tab === null) return leaveForSignIn();
  waiting?.abort();
  waiting = new AbortController();
  const answer = await answerIn(tab, waiting.signal);
  await regain(answer);
  channel()?.postMessage('signed-in');
}

/** Sends the tab to the sign-in page. Resolves when it has come back; never when another attempt has begun meanwhile. */
async function answerIn(tab: Window, signal: AbortSignal): Promise<URLSearchParams> {
  try {
    const { address, state: asked } = await (await signIn()).elsewhere();
    const answer = answerFromTab(asked, signal);
    tab.location.replace(address);
    return await answer;
  } catch (error) {
    tab.close();
    throw error;
  }
}

/** Goes on with the same page. What another person may see is drawn from the beginning. */
async function regain(answer?: URLSearchParams): Promise<void> {
  const before = state.value;
  (await signIn()).returned(answer);
  await person.get();
  const me = await accountClient().me();
  if (before.kind === 'in' && before.me.user_id !== me.user_id) {
    location.assign(`${consoleRoot}/`);
    return;
  }
  ended.value = false;
  resources.retryFailed();
}

/** The browser's session has ended. What the person has typed is not lost for it. */
function endSession(): void {
  if (state.value.kind === 'in') ended.value = true;
}

/** Drops everything, where the person does not sign in again. */
export function leaveSignedOut(): void {
  waiting?.abort();
  forget();
}

/** Ends the session of this browser; the other tabs are told. */
export async function signOut(): Promise<void> {
  channel()?.postMessage('signed-out');
  forget();
  const address = await (await signIn()).signOutAddress();
  if (address !== undefined) location.assign(address);
}

/** Everything that belongs to the person leaves the memory of the page. */
function forget(): void {
  person.forget();
  inBackground(signIn().then((way) => way.forget()));
  person = personTokens();
  tenants.clear();
  organizations.clear();
  resources.clear();
  ended.value = false;
  state.value = { kind: 'signed-out' };
}

function channel(): BroadcastChannel | undefined {
  return typeof BroadcastChannel === 'undefined'
    ? undefined
    : new BroadcastChannel('convoke.session');
}

let isListening = false;

function listenToTabs(): void {
  if (isListening) return;
  isListening = true;
  const listener = channel();
  if (listener === undefined) return;
  listener.onmessage = (event) => {
    if (event.data === 'signed-out') forget();
    if (event.data === 'signed-in' && ended.value) regain().catch(() => {});
  };
}

/** The token of the person; when the browser's session has ended, the page says so. */
async function personToken(rejected: string | undefined): Promise<string> {
  try {
    return (await person.get(rejected)).token;
  } catch (error) {
    if (error instanceof SignInRequired) endSession();
    throw error;
  }
}

/** The client of one tenant, or undefined when the person does not reach it. */
export function tenantScope(tenantId: string): TenantScope | undefined {
  if (state.value.kind !== 'in') return undefined;
  // Looked up each time: a tenant that was offboarded leaves the list.
  const workspace = state.value.workspaces.find(({ tenant }) => tenant.tenant_id === tenantId);
  if (workspace === undefined) return undefined;
  const known = tenants.get(tenantId);
  if (known !== undefined) return known;
  const { organization_id: organizationId, organization_name: organizationName } = workspace;
  const tokens = tenantTokens(person, { organizationId, tenantId });
  const scopes = signal<readonly string[]>([]);
  const token = async ({ rejected }: { readonly rejected: string | undefined }) => {
    try {
      const given = await tokens.get(rejected);
      if (given.scopes.join(' ') !== scopes.value.join(' ')) scopes.value = given.scopes;
      return given.token;
    } catch (error) {
      if (error instanceof SignInRequired) endSession();
      throw error;
    }
  };
  const selector = { organizationId, tenantId };
  const clientWith = (fetch: Fetch) =>
    new Convoke({ baseUrl: baseUrl(), token, workspace: selector, fetch });
  const client = clientWith((url, init) => fetch(url, init));
  const name = workspace.tenant.display_name;
  const scope = {
    organizationId,
    organizationName,
    tenantId,
    name,
    client,
    clientWith,
    scopes,
  };
  tenants.set(tenantId, scope);
  return scope;
}

/** For what belongs to the person and to no tenant. */
export function accountClient(): Convoke {
  const token = ({ rejected }: { readonly rejected: string | undefined }) => personToken(rejected);
  return new Convoke({ baseUrl: baseUrl(), token });
}

/** The client for the management of one organization. */
export function organizationClient(organizationId: string): ConvokeAdmin {
  const known = organizations.get(organizationId);
  if (known !== undefined) return known;
  const token = ({ rejected }: { readonly rejected: string | undefined }) => personToken(rejected);
  const client = new ConvokeAdmin({ baseUrl: baseUrl(), token, organizationId });
  organizations.set(organizationId, client);
  return client;
}
