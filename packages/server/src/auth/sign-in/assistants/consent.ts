import { createHmac } from 'node:crypto';
import { type Scope, type UserId, isScope, userId } from '@convoke/contract';
import type { Adapter, Provider } from 'oidc-provider';
import type { Services } from '../../../app/services.ts';
import { decidePersonAccess } from '../../../domain/access.ts';
import type { Selectors } from '../../selectors.ts';
import { sessionOf } from '../browser-session.ts';
import { type Exchange, isCrossSite, isSame, readForm, sendPage } from '../exchange.ts';
import { pageHeaders } from '../page.ts';
import { messagePage } from '../pages.ts';
import type { AssistantClients } from './assistant-clients.ts';
import { isLoopback } from './client-metadata.ts';
import { type ConsentDetails, consentDetails, hostOfClient } from './consent-prompt.ts';
import { consentPage, noAccessPage } from './consent-page.ts';
import { tenantOfResource } from './mcp-resource.ts';

/** The page on which a person lets an assistant use the agents of a tenant (D-622). */
export interface Consent {
  handle(provider: Provider, exchange: Exchange): Promise<void>;
}

export interface ConsentParts extends Pick<Services, 'store' | 'clock'> {
  readonly baseUrl: string;
  readonly proofKey: Uint8Array;
  readonly clients: AssistantClients;
  /** Stores the consent, for the list of sign-ins. */
  readonly consents: Adapter;
  /** The requests that people are asked about. Consuming one that is consumed throws `AnsweredBefore`. */
  readonly interactions: Pick<Adapter, 'consume'>;
}

export class AnsweredBefore extends Error {
  override readonly name = 'AnsweredBefore';
}

/** A stored consent, with its grant. */
export interface StoredConsent {
  readonly accountId: string;
  readonly grantId: string;
  readonly name: string;
  readonly clientId: string;
  readonly organizationId: string;
  readonly tenantId: string;
}

/** As long as the grant, whose tokens it is about. */
const consentSeconds = 90 * 24 * 3600;

export function createConsent(parts: ConsentParts): Consent {
  const { proofKey } = parts;
  /** Begins with what the page has shown (D-1071). */
  const proofOf = ({ uid, person }: ConsentQuestion, shown: string) => {
    const hmac = createHmac('sha256', proofKey).update(`consent ${uid} ${person} ${shown}`);
    return `${shown}.${hmac.digest('base64url')}`;
  };

  return {
    async handle(provider, exchange) {
      const { request, response } = exchange;
      const asked = await askedOf(parts, provider, exchange);
      if (asked === undefined) return sendPage(exchange, ended, { status: 400 });
      const { uid, email, details } = asked;
      const { pathname: action } = new URL(request.url ?? '/', 'http://localhost');
      const { name, redirectUri } = details;
      const headers = { 'content-security-policy': policyTo(redirectUri) };
      const scopes = await scopesOf(parts, asked);
      if (request.method !== 'POST') {
        const proof = proofOf(asked, [...(scopes ?? [])].join(' '));
        if (scopes === undefined) {
          return sendPage(exchange, noAccessPage({ action, proof, name, email }), { headers });
        }
        const { host, hostname } = new URL(redirectUri);
        const page = consentPage({
          action,
          proof,
          name,
          email,
          scopes,
          host: hostOfClient(details.clientId),
          returnsTo: isLoopback(hostname) ? undefined : host,
          tenant: await tenantName(parts, asked.tenant),
        });
        return sendPage(exchange, page, { headers });
      }
      const form = isCrossSite(request) ? undefined : await readForm(request);
      const proof = form?.get('proof') ?? '';
      const [shown = ''] = proof.split('.');
      if (form === undefined || !isSame(proof, proofOf(asked, shown))) {
        return sendPage(exchange, ended, { status: 400 });
      }
      if (!(await isFirstAnswer(parts, uid))) return sendPage(exchange, ended, { status: 400 });
      const words = shown.split(' ');
      const given = new Set([...(scopes ?? [])].filter((scope) => words.includes(scope)));
      if (form.get('allow') !== 'yes' || given.size === 0) {
        const said = scopes === undefined ? 'no access to this tenant' : 'the person declined';
        const result = { error: 'access_denied', error_description: said };
        return provider.interactionFinished(request, response, result);
      }
      const grantId = await agree(parts, provider, { ...asked, scopes: given });
      await parts.clients.agree(details.clientId, exchange.address);
      return provider.interactionFinished(request, response, { consent: { grantId } });
    },
  };
}

/** A form that is sent twice, or by two tabs, makes one grant (D-945): a second one would belong to no token. */
async function isFirstAnswer({ interactions }: ConsentParts, uid: string): Promise<boolean> {
  try {
    await interactions.consume(uid);
    return true;
  } catch (error) {
    if (error instanceof AnsweredBefore) return false;
    throw error;
  }
}

interface ConsentQuestion {
  readonly uid: string;
  readonly person: UserId;
  readonly email: string;
  readonly details: ConsentDetails;
  readonly tenant: Selectors;
}

/** What the person of this browser is asked; undefined when it has ended, or was asked of another person. */
async function askedOf(
  { store, baseUrl }: ConsentParts,
  provider: Provider,
  exchange: Exchange,
): Promise<ConsentQuestion | undefined> {
  const { request, response } = exchange;
  const started = await provider.interactionDetails(request, response).catch(() => undefined);
  if (started?.prompt.name !== 'consent') return undefined;
  const details = consentDetails.safeParse(started.prompt.details);
  const accountId = started.session?.accountId;
  const session = await sessionOf(provider, exchange);
  if (!details.success || accountId === undefined || session?.accountId !== accountId) {
    return undefined;
  }
  const person = userId(accountId);
  const user = await store.read.organizations.findUser(person);
  const tenant = tenantOfResource(baseUrl, details.data.resource);
  if (user === undefined || tenant === undefined) return undefined;
  return { uid: started.uid, person, email: user.email, details: details.data, tenant };
}

/** The scopes that the person can give; undefined without access to the tenant, or where it does not exist. */
async function scopesOf(
  { store, clock }: ConsentParts,
  { person, details, tenant }: Pick<ConsentQuestion, 'person' | 'details' | 'tenant'>,
): Promise<ReadonlySet<Scope> | undefined> {
  const ruling = decidePersonAccess(await store.read.organizations.reach(person, tenant), {
    claimedRole: undefined,
    tokenScopes: new Set(details.scope.split(' ').filter(isScope)),
    tokenIssuedAt: clock.now(),
    required: [],
  });
  return ruling.ok && ruling.value.scopes.size > 0 ? ruling.value.scopes : undefined;
}

async function tenantName({ store }: ConsentParts, { organizationId, tenantId }: Selectors) {
  return (await store.read.tenants.find(organizationId, tenantId))?.displayName ?? tenantId;
}

/** Makes a grant for this one sign-in, which opens this one tenant. */
async function agree(
  { consents }: ConsentParts,
  provider: Provider,
  { person, details, tenant, scopes }: ConsentQuestion & { readonly scopes: ReadonlySet<Scope> },
): Promise<string> {
  const { clientId, resource, scope: asked, name } = details;
  const grant = new provider.Grant({ clientId, accountId: person });
  // What the page said (D-952), so that a stronger role gives the assistant no more, later or since the page was shown.
  const given = asked.split(' ').filter((scope) => isScope(scope) && scopes.has(scope));
  grant.addResourceScope(resource, given.join(' '));
  const grantId = await grant.save();
  const content: StoredConsent = { accountId: person, grantId, name, clientId, ...tenant };
  await consents.upsert(grantId, { ...content }, consentSeconds);
  return grantId;
}

/** A browser checks where the answer to a form redirects, too (CSP `form-action`). */
function policyTo(redirectUri: string): string {
  const { origin } = new URL(redirectUri);
  const policy = pageHeaders['content-security-policy'];
  return policy.replace("form-action 'self'", `form-action 'self' ${origin}`);
}

const ended = messagePage(
  'This request has ended',
  'It was answered, has expired, or was started in another browser. Start again in your assistant.',
);
