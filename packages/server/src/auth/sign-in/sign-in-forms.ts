import { createHmac } from 'node:crypto';
import { userId } from '@convoke/contract';
import type { Provider } from 'oidc-provider';
import { z } from 'zod';
import { Refusal } from '../../app/refusal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { Sealing } from '../sealing.ts';
import { type Exchange, isCrossSite, isSame, readForm, sendPage } from './exchange.ts';
import { type SignInPage, choosePage, messagePage, signInPage } from './pages.ts';
import type { SignIn } from './sign-in.ts';

/**
 * Handles the login step of a sign-in that the identity provider started. The provider binds the sign-in to the browser
 * with a cookie, so a form posted by another site finds no sign-in; the proof in the form shows that it was rendered
 * for this one.
 */
export interface SignInForms {
  handle(provider: Provider, exchange: Exchange): Promise<void>;
}

interface SignInFormParts {
  readonly store: Store;
  readonly signIn: SignIn;
  readonly sealing: Sealing;
  readonly proofKey: Uint8Array;
  readonly clock: Clock;
}

/** How long a person may take to choose a password. */
const ticketMs = 10 * 60_000;
const ticketContent = z.object({ user_id: z.string(), replaces: z.string(), at: z.number() });

/** Proof that the person signed in with a one-time password, until they have chosen another. */
type Ticket = z.infer<typeof ticketContent>;

export function createSignInForms(parts: SignInFormParts): SignInForms {
  const { store, signIn, sealing, proofKey, clock } = parts;
  const proofOf = (uid: string) =>
    createHmac('sha256', proofKey).update(`sign-in ${uid}`).digest('base64url');

  async function attempt(login: Login): Promise<void> {
    const { form, exchange, page } = login;
    const email = form.get('email') ?? '';
    const password = form.get('password') ?? '';
    const result = await signIn.attempt({ email, password, address: exchange.address });
    switch (result.kind) {
      case 'known':
        return finish(login, result.userId);
      case 'must_choose': {
        const { userId: user_id, replaces } = result;
        const content: Ticket = { user_id, replaces, at: clock.now() };
        const ticket = sealing.seal(`choose ${login.uid}`, JSON.stringify(content));
        return sendPage(exchange, choosePage({ ...page, ticket }));
      }
      case 'limited': {
        const problem = `Too many attempts. Try again in ${result.retryAfterSeconds} seconds.`;
        const headers = { 'retry-after': String(result.retryAfterSeconds) };
        return sendPage(exchange, signInPage({ ...page, email, problem }), {
          status: 429,
          headers,
        });
      }
      case 'refused': {
        const problem = 'Incorrect email or password.';
        return sendPage(exchange, signInPage({ ...page, email, problem }), { status: 401 });
      }
      default:
        return result satisfies never;
    }
  }

  async function choose(login: Login, ticket: string): Promise<void> {
    const { form, exchange, page } = login;
    const content = readTicket(ticket, login.uid);
    if (content === undefined) return sendPage(exchange, expired, { status: 400 });
    const person = userId(content.user_id);
    const chosen = form.get('chosen') ?? '';
    const again = (problem: string, status = 400) =>
      sendPage(exchange, choosePage({ ...page, ticket, problem }), { status });
    if (chosen !== form.get('repeated')) return again('The passwords do not match.');
    const choice = { userId: person, password: chosen, replaces: content.replaces };
    try {
      if (await signIn.choose(choice, exchange)) return await finish(login, person);
      return sendPage(exchange, expired, { status: 400 });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return again(error.message, error.code === 'rate_limited' ? 429 : 400);
    }
  }

  function readTicket(ticket: string, uid: string): Ticket | undefined {
    const text = sealing.unseal(`choose ${uid}`, ticket);
    const content = ticketContent.safeParse(text === undefined ? undefined : JSON.parse(text));
    if (!content.success || clock.now() - content.data.at > ticketMs) return undefined;
    return content.data;
  }

  return {
    async handle(provider, exchange) {
      const { request, response } = exchange;
      const started = await provider.interactionDetails(request, response).catch(() => undefined);
      if (started?.prompt.name !== 'login') return sendPage(exchange, expired, { status: 400 });
      const { uid } = started;
      const action = new URL(request.url ?? '/', 'http://localhost').pathname;
      // A server with several organizations names none of them to a stranger.
      const only = await store.read.organizations.only();
      const page = { action, proof: proofOf(uid), organization: only?.name };
      if (request.method !== 'POST') {
        const hint = started.params['login_hint'];
        const email = typeof hint === 'string' ? hint.slice(0, 254) : '';
        return sendPage(exchange, signInPage({ ...page, email }));
      }
      const form = isCrossSite(request) ? undefined : await readForm(request);
      if (form === undefined || !isSame(form.get('proof') ?? '', page.proof)) {
        return sendPage(exchange, expired, { status: 400 });
      }
      const login = { provider, exchange, form, uid, page };
      const ticket = form.get('ticket');
      return ticket === null ? attempt(login) : choose(login, ticket);
    },
  };
}

interface Login {
  readonly provider: Provider;
  readonly exchange: Exchange;
  readonly form: URLSearchParams;
  readonly uid: string;
  readonly page: SignInPage;
}

async function finish({ provider, exchange }: Login, accountId: string): Promise<void> {
  const result = { login: { accountId, amr: ['pwd'] } };
  await provider.interactionFinished(exchange.request, exchange.response, result);
}

const expired = messagePage(
  'This sign-in has ended',
  'It was completed, has expired, or was started in another browser. Go back and start again.',
);
