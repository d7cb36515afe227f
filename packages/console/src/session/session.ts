import {
  Convoke,
  ConvokeAdmin,
  type Fetch,
  type MeRecord,
  type WorkspaceRecord,
} from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { Resources } from '../data/resource.ts';
import { safeReturn } from '../data/routes.ts';
import { navigate } from '../shell/router.ts';
import { type PersonToken, SignInRequired, baseUrl } from './code-flow.ts';
import { keepReturn, signIn, takeReturn } from './sign-in.ts';
import { type RenewedToken, personTokens, tenantTokens } from './tokens.ts';

export type SessionState =
  | { readonly kind: 'starting' }
  /** Without HTTPS, away from this machine, a browser offers neither Web Crypto nor Web Locks. */
  | { readonly kind: 'insecure' }
  | { readonly kind: 'leaving' }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'in'; readonly me: MeRecord; readonly workspaces: readonly WorkspaceRecord[] };

const state = signal<SessionState>({ kind: 'starting' });
export const session: ReadonlySignal<SessionState> = state;

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
    navigate(safeReturn(takeReturn()), { replace: true });
    await enter(answer);
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
    const account = accountClient();
    const workspaces: WorkspaceRecord[] = [];
    for await (const workspace of account.workspaces({ limit: 100 })) workspaces.push(workspace);
    const me = await account.me();
    state.value = { kind: 'in', me, workspaces };
    listenForSignOut();
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
  const { value } = state;
  if (value.kind !== 'in') return;
  const workspaces: WorkspaceRecord[] = [];
  for await (const workspace of accountClient().workspaces({ limit: 100 }))
    workspaces.push(workspace);
  state.value = { ...value, workspaces };
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
  void signIn().then(({ forget: drop }) => drop());
  person = personTokens();
  tenants.clear();
  organizations.clear();
  resources.clear();
  state.value = { kind: 'signed-out' };
}

function channel(): BroadcastChannel | undefined {
  return typeof BroadcastChannel === 'undefined'
    ? undefined
    : new BroadcastChannel('convoke.session');
}

let isListening = false;

function listenForSignOut(): void {
  if (isListening) return;
  isListening = true;
  const listener = channel();
  if (listener === undefined) return;
  listener.onmessage = (event) => {
    if (event.data === 'signed-out') forget();
  };
}

/** The token of the person; when the browser's session has ended, the page says so instead of failing. */
async function personToken(rejected: string | undefined): Promise<string> {
  try {
    return (await person.get(rejected)).token;
  } catch (error) {
    if (error instanceof SignInRequired) forget();
    throw error;
  }
}

/** The client of one tenant, or undefined when the person does not reach it. */
export function tenantScope(tenantId: string): TenantScope | undefined {
  const known = tenants.get(tenantId);
  if (known !== undefined) return known;
  if (state.value.kind !== 'in') return undefined;
  const workspace = state.value.workspaces.find(({ tenant }) => tenant.tenant_id === tenantId);
  if (workspace === undefined) return undefined;
  const { organization_id: organizationId, organization_name: organizationName } = workspace;
  const tokens = tenantTokens(person, { organizationId, tenantId });
  const scopes = signal<readonly string[]>([]);
  const token = async ({ rejected }: { readonly rejected: string | undefined }) => {
    try {
      const given = await tokens.get(rejected);
      if (given.scopes.join(' ') !== scopes.value.join(' ')) scopes.value = given.scopes;
      return given.token;
    } catch (error) {
      if (error instanceof SignInRequired) forget();
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
