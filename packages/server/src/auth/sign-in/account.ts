import { createHmac, randomBytes } from 'node:crypto';
import { type UserId, userId } from '@convoke/contract';
import type { Provider } from 'oidc-provider';
import { namePerson } from '../../app/people/names.ts';
import { signOutEverywhere } from '../../app/people/passwords.ts';
import { Refusal } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import type { User } from '../../ports/repositories/identity/organizations.ts';
import type { Sealing } from '../sealing.ts';
import { type ListedSignIn, accountPage } from './account-page.ts';
import { sessionOf } from './browser-session.ts';
import { type Exchange, isCrossSite, isSame, readForm, sendPage } from './exchange.ts';
import { messagePage } from './pages.ts';
import { accountClientId } from './own-clients.ts';
import { accountPath, peopleRoutes } from './provider-settings.ts';
import type { SignIn } from './sign-in.ts';
import { type ActiveSignIn, endSignIn, listSignIns } from './sign-ins.ts';

/**
 * The page on which a person sets their name, changes their password and ends their sign-ins. Needs the session of the
 * browser.
 */
export interface Account {
  handle(provider: Provider, exchange: Exchange): Promise<void>;
}

export interface AccountParts extends Pick<Services, 'store' | 'clock' | 'fanout'> {
  readonly baseUrl: string;
  readonly hasConsole: boolean;
  readonly signIn: SignIn;
  readonly sealing: Sealing;
  readonly proofKey: Uint8Array;
}

interface Visit {
  readonly exchange: Exchange;
  readonly user: User;
  readonly sessionId: string;
}

/** The message of the page after a form was sent. */
interface Outcome {
  readonly notice?: string;
  readonly problem?: string;
  readonly status?: number;
  /** The form ended every sign-in, this one included; shown instead of the account. */
  readonly signedOut?: string;
  /** The person, where the form changed something about them. */
  readonly user?: User;
}

export function createAccount(parts: AccountParts): Account {
  const { store, clock, baseUrl, sealing, proofKey } = parts;
  const root = new URL(baseUrl).pathname.replace(/\/$/, '');
  const action = root + accountPath;
  const proofOf = (sessionId: string) =>
    createHmac('sha256', proofKey).update(`account ${sessionId}`).digest('base64url');

  async function show({ exchange, user, sessionId }: Visit, outcome: Outcome = {}): Promise<void> {
    const { status = 200, signedOut, notice, problem } = outcome;
    if (signedOut !== undefined) return sendPage(exchange, signedOutPage(signedOut, action));
    const found = await listSignIns({ store, clock, sealing }, user.id);
    const signIns = await Promise.all(found.map((signIn) => withNames(parts, signIn)));
    const signOutPath = root + peopleRoutes.end_session;
    const { email, name } = user;
    const consolePath = parts.hasConsole ? `${root}/console/` : undefined;
    const proof = proofOf(sessionId);
    const page = { action, proof, email, name, signIns, sessionId, signOutPath, consolePath };
    sendPage(exchange, accountPage({ ...page, notice, problem }), { status });
  }

  return {
    async handle(provider, exchange) {
      const visit = await visitOf(parts, provider, exchange);
      if (visit === undefined) return beginSignIn(exchange, { baseUrl, root });
      if (exchange.request.method !== 'POST') {
        // The code of the sign-in that led here has served its purpose: it need not stay in the address bar.
        return isBack(exchange) ? redirect(exchange, action) : show(visit);
      }
      const form = isCrossSite(exchange.request) ? undefined : await readForm(exchange.request);
      if (form === undefined || !isSame(form.get('proof') ?? '', proofOf(visit.sessionId))) {
        return show(visit, { problem: 'The form has expired. Try again.', status: 400 });
      }
      const outcome = await perform(parts, visit, form);
      // The person's open streams check their access again (D-154).
      if (outcome.signedOut !== undefined) parts.fanout.wake(`access:${visit.user.id}`);
      return show({ ...visit, user: outcome.user ?? visit.user }, outcome);
    },
  };
}

/** Names the tenant that an assistant uses. */
async function withNames(
  { store }: AccountParts,
  { assistant, ...signIn }: ActiveSignIn,
): Promise<ListedSignIn> {
  if (assistant === undefined) return signIn;
  const { organizationId, tenantId, name, host } = assistant;
  const tenant = await store.read.tenants.find(organizationId, tenantId);
  return { ...signIn, assistant: { name, host, tenant: tenant?.displayName ?? tenantId } };
}

async function perform(parts: AccountParts, visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const { exchange, user } = visit;
  const { requestId, address } = exchange;
  const by: Actor = { kind: 'user', id: user.id, requestId, address };
  switch (form.get('do') ?? '') {
    case 'end':
      await endSignIn(parts, { userId: user.id, id: form.get('id') ?? '', by });
      return {
        notice:
          'The sign-in has ended. A terminal or an assistant loses access within ten minutes.',
      };
    case 'everywhere':
      await signOutEverywhere(parts, { userId: user.id, by });
      return { signedOut: 'You are signed out everywhere.' };
    case 'password':
      return changeByForm(parts, visit, form);
    case 'name':
      return refusedAsProblem(async () => {
        const name = await namePerson(parts, { userId: user.id, name: form.get('name') ?? '', by });
        return { notice: 'Your name is saved.', user: { ...user, name } };
      });
    default:
      return { problem: 'The form is incomplete. Try again.', status: 400 };
  }
}

async function changeByForm(
  { signIn }: AccountParts,
  { exchange, user }: Visit,
  form: URLSearchParams,
): Promise<Outcome> {
  const [current, chosen] = [form.get('current') ?? '', form.get('chosen') ?? ''];
  if (chosen !== form.get('repeated')) {
    return { problem: 'The passwords do not match.', status: 400 };
  }
  return refusedAsProblem(async () => {
    const result = await signIn.change({ user, current, chosen }, exchange);
    switch (result.kind) {
      case 'changed':
        return { signedOut: 'Your password has changed.' };
      case 'refused':
        return { problem: 'The current password is wrong.', status: 401 };
      case 'limited': {
        const problem = `Too many attempts. Try again in ${result.retryAfterSeconds} seconds.`;
        return { problem, status: 429 };
      }
      default:
        return result satisfies never;
    }
  });
}

/** A refusal of a rule is shown on the page. */
async function refusedAsProblem(perform: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await perform();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { problem: error.message, status: 400 };
  }
}

async function visitOf(
  { store }: Pick<Services, 'store'>,
  provider: Provider,
  exchange: Exchange,
): Promise<Visit | undefined> {
  const session = await sessionOf(provider, exchange);
  const id: UserId | undefined =
    session?.accountId === undefined ? undefined : userId(session.accountId);
  const user = id && (await store.read.organizations.findUser(id));
  return user && session && { exchange, user, sessionId: session.jti };
}

/**
 * Sends the browser through a sign-in, which leaves the session that this page needs. The code that comes back is not
 * used: its challenge is random, so that it cannot be redeemed.
 */
function beginSignIn(
  exchange: Exchange,
  { baseUrl, root }: { readonly baseUrl: string; readonly root: string },
): void {
  if (isBack(exchange)) return sendPage(exchange, noSession, { status: 400 });
  const query = new URLSearchParams({
    client_id: accountClientId,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: baseUrl + accountPath,
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  });
  redirect(exchange, `${root}${peopleRoutes.authorization}?${query.toString()}`);
}

function isBack({ request }: Exchange): boolean {
  return new URL(request.url ?? '/', 'http://localhost').searchParams.has('code');
}

function redirect({ response }: Exchange, location: string): void {
  response.writeHead(303, { location }).end();
}

const noSession = messagePage(
  'Not signed in',
  'The browser did not keep its session. Allow cookies for this address and start again.',
);

function signedOutPage(text: string, action: string): string {
  return messagePage('Signed out', `${text} Every browser and terminal must sign in again.`, {
    href: action,
    text: 'Sign in',
  });
}
