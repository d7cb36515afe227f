import type { Operation } from '@convoke/contract';
import type { FastifyInstance } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import { ActorNames } from '../app/actor-names.ts';
import { FeedFollower } from '../app/feed/feed.ts';
import { orOver } from '../app/runs/signals.ts';
import type { WithdrawingServices } from '../app/withdrawals.ts';
import { deriveKey } from '../auth/master-key.ts';
import { consoleClientId } from '../auth/sign-in/own-clients.ts';
import { createSignUp } from '../auth/sign-in/sign-up.ts';
import type { OfferedSignIn } from '../auth/metadata.ts';
import type { IdentityProvider } from '../auth/sign-in/identity-provider.ts';
import type { TokenRequest } from '../auth/tokens/client-authentication.ts';
import { createSessionTokens } from '../auth/tokens/session-tokens.ts';
import { createTokenEndpoint } from '../auth/tokens/token-endpoint.ts';
import { type TokenExchange, createTokenExchange } from '../auth/tokens/token-exchange.ts';
import type { Config } from '../config/config.ts';
import type { Run } from '../domain/run/run.ts';
import type { Load } from '../execution/run-slots.ts';
import { type RateLimits, createNetworkLimits } from '../http/admission.ts';
import { type AnswerCaps, AnswersUnderWay } from '../http/answers/answers-under-way.ts';
import { createApp } from '../http/app.ts';
import { callerAddressBehind } from '../http/caller-address.ts';
import { mountConnectCallback } from '../http/connect/callback.ts';
import { mountConnectClient } from '../http/connect/client.ts';
import { createCors } from '../http/answers/cors.ts';
import { type Cursors, createCursors } from '../http/cursors.ts';
import { createDenials } from '../http/denials.ts';
import { type ServedDocs, createServedDocs, mountDocs } from '../http/docs.ts';
import type { StreamCaps } from '../http/streams/admitted-streams.ts';
import { EventStreams } from '../http/streams/event-streams.ts';
import { createRunFollowers } from '../http/streams/run-frames.ts';
import type { Handlers } from '../http/handler.ts';
import { agentRoutes } from '../http/routes/agents.ts';
import { auditRoutes } from '../http/routes/audit.ts';
import { callbackRoutes } from '../http/routes/runs/callbacks.ts';
import { clientRoutes } from '../http/routes/clients.ts';
import { credentialRoutes } from '../http/routes/credentials.ts';
import { feedRoutes } from '../http/routes/feed.ts';
import { a2aRoutes } from '../http/faces/a2a/routes.ts';
import { agUiRoutes } from '../http/faces/ag-ui/routes.ts';
import { aiSdkRoutes } from '../http/faces/ai-sdk/routes.ts';
import { mcpRoutes } from '../http/faces/mcp/routes.ts';
import { createFaceFollower } from '../http/faces/stream.ts';
import { feedbackRoutes } from '../http/routes/runs/feedback.ts';
import { fileRoutes } from '../http/routes/files.ts';
import { interactionRoutes } from '../http/routes/interactions.ts';
import { invitationRoutes } from '../http/routes/invitations.ts';
import { oauthRoutes } from '../http/routes/oauth.ts';
import { organizationRoutes } from '../http/routes/organizations.ts';
import { ruleRoutes } from '../http/routes/rules.ts';
import { runRoutes } from '../http/routes/runs.ts';
import { scheduleRoutes } from '../http/routes/schedules.ts';
import { sessionRoutes } from '../http/routes/sessions.ts';
import { sessionTokenRoutes } from '../http/routes/session-tokens.ts';
import { systemRoutes } from '../http/routes/system.ts';
import { tenantReadRoutes } from '../http/routes/tenant-reads.ts';
import { budgetRoutes } from '../http/routes/budgets.ts';
import { tenantRoutes } from '../http/routes/tenants.ts';
import { usageRoutes } from '../http/routes/usage.ts';
import { connectionRoutes } from '../http/routes/connections.ts';
import { sessionConnectionRoutes } from '../http/routes/session-connections.ts';
import { webhookRoutes } from '../http/routes/webhooks.ts';
import { workspaceRoutes } from '../http/routes/workspaces.ts';
import { scopeToTenant } from '../http/tenant-scope.ts';
import {
  apiRate,
  createRateLimit,
  managementRate,
  sessionRate,
  tokenExchangeNetworkRate,
  tokenExchangeRate,
  tokenFailureRate,
} from '../runtime/rate-limit.ts';
import { createSharedRateLimit } from '../runtime/shared-rate-limit.ts';
import type { Authority } from './authority.ts';
import { openConsole } from './console.ts';
import { describeFrameworks } from './frameworks.ts';
import { showMetrics } from './metrics.ts';
import type { OpenServices } from './services.ts';
import {
  type PasswordWork,
  mountSignIn,
  openIdentityProvider,
  openPasswordWork,
} from './sign-in.ts';

type HttpServices = OpenServices & WithdrawingServices;

export interface HttpParts {
  readonly config: Config;
  readonly authority: Authority;
  readonly masterKey: Uint8Array;
  readonly isReady: () => Promise<boolean>;
  /** What a draining server waits for; undefined while it does not drain. */
  readonly draining: () => Load | undefined;
  readonly streamCaps?: StreamCaps | undefined;
  readonly answerCaps?: AnswerCaps | undefined;
  readonly consoleFolder?: string | undefined;
}

/** The operations of a server that only executes runs: its supervisor must be able to check its health. */
const healthOperations: ReadonlySet<string> = new Set(['get_health', 'get_readiness']);

/** The HTTP side of the server, not yet listening, and its open streams. */
export function openHttp(
  services: HttpServices,
  parts: HttpParts,
): { readonly app: FastifyInstance; readonly streams: EventStreams } {
  const { config, authority, masterKey } = parts;
  const { clock, log, ids, metrics, traces, fanout } = services;
  const { gate } = authority;
  const streams = new EventStreams({
    clock,
    log,
    metrics,
    maxAgeMs: config.settings.streamMaxAgeMs,
    caps: parts.streamCaps,
    fanout,
    recheck: (caller) => gate.recheck(caller),
  });
  const cursors = createCursors(deriveKey(masterKey, 'cursors'));
  const docs = createServedDocs({ version: manifest.version, baseUrl: config.baseUrl });
  const isApi = config.cluster.roles.has('api');
  const callerAddress = callerAddressBehind(config.trustedProxies);
  const passwordWork = openPasswordWork(clock);
  const signInParts = { config, authority, masterKey, passwordWork };
  const identityProvider = openIdentityProvider(services, signInParts);
  const serves = isApi
    ? // Another issuer has the accounts.
      ({ id }: Operation) => id !== 'sign_up' || config.peopleIssuer === undefined
    : ({ id }: Operation) => healthOperations.has(id);
  const app = createApp({
    handlers: handlersOf(services, parts, {
      docs,
      cursors,
      streams,
      passwordWork,
      identityProvider,
    }),
    serves,
    gate,
    callerAddress,
    cors: createCors(config.corsOrigins, serves),
    answers: new AnswersUnderWay({ clock, caps: parts.answerCaps }),
    denials: createDenials({ ...services, gate }),
    limits: openRateLimits(services, config),
    proofs: {
      receive_callback: {
        isRight: ({ callback_token: token = '' }) => services.callbacks.open(token) !== undefined,
        explain: (error, { callback_token: token = '' }) => orOver(services, { token, error }),
      },
    },
    clock,
    ids,
    log,
    metrics,
    traces,
  });
  if (isApi) mountDocs(app, docs);
  if (isApi) openConsole(app, services, { config, folder: parts.consoleFolder });
  if (isApi) mountConnectCallback(app, services, { callerAddress });
  if (isApi) mountConnectClient(app, config);
  if (isApi) mountSignIn(app, services, { config, identityProvider, callerAddress });
  showMetrics(app, services, { config, streams });
  return { app, streams };
}

function openRateLimits(services: HttpServices, config: Config): RateLimits {
  const { clock } = services;
  const api = apiRate(config.apiRatePerMinute);
  const management = managementRate(config.managementRatePerMinute);
  return {
    application: createRateLimit(clock, api),
    session: createRateLimit(clock, sessionRate),
    management: createSharedRateLimit(services, management),
    replays: {
      application: createRateLimit(clock, api),
      session: createRateLimit(clock, sessionRate),
      management: createRateLimit(clock, management),
    },
    networks: createNetworkLimits(clock),
  };
}

interface RouteParts {
  readonly docs: ServedDocs;
  readonly cursors: Cursors;
  readonly streams: EventStreams;
  readonly passwordWork: PasswordWork;
  readonly identityProvider: IdentityProvider | undefined;
}

/** One handler per declared operation: a missing one does not compile. */
function handlersOf(
  services: HttpServices,
  { config, authority, isReady, draining }: HttpParts,
  { docs, cursors, streams, passwordWork, identityProvider }: RouteParts,
): Handlers {
  const { secrets, keys, tokens } = authority;
  const { store, clock, log } = services;
  const { baseUrl, hasConsole } = config;
  const failures = createRateLimit(clock, tokenFailureRate);
  const tokenExchange = hasConsole ? openTokenExchange(services, config, tokens) : undefined;
  const redeem = identityProvider && ((request: TokenRequest) => identityProvider.redeem(request));
  const issuing = { store, tokens, secrets, clock, log, failures, tokenExchange, redeem };
  const endpoint = createTokenEndpoint(issuing);
  const actorNames = new ActorNames(services);
  const named = { cursors, actorNames };
  const inviting = { store, clock, ids: services.ids, secrets: authority.invitationSecrets };
  const runParts = { ...named, streams, followers: createRunFollowers(services) };
  const faceParts = { cursors, streams, follower: createFaceFollower(services) };
  const handlers: Handlers = {
    ...systemRoutes({
      version: manifest.version,
      docs,
      isReady,
      draining,
      startedAt: clock.now(),
      settings: services.settings,
      apiRatePerMinute: config.apiRatePerMinute,
      frameworks: () => describeFrameworks(services),
    }),
    ...oauthRoutes({ endpoint, keys, offered: offeredSignIn(config), metrics: services.metrics }),
    ...workspaceRoutes(services, cursors),
    ...agentRoutes(services, runParts),
    ...sessionRoutes(services, named),
    ...sessionTokenRoutes(createSessionTokens({ ...services, tokens })),
    ...runRoutes(services, runParts),
    ...callbackRoutes(services),
    ...feedbackRoutes(services, runParts),
    ...tenantReadRoutes(services, named),
    ...interactionRoutes(services, named),
    ...feedRoutes(services, { cursors, streams, feedFollower: new FeedFollower(services) }),
    ...fileRoutes(services, cursors),
    ...aiSdkRoutes(services, { ...faceParts, ...named, baseUrl }),
    ...agUiRoutes(services, faceParts),
    ...a2aRoutes(services, { ...faceParts, baseUrl }),
    ...mcpRoutes(services, { ...faceParts, ...mcpParts(services, config) }),
    ...scheduleRoutes(services, named),
    ...webhookRoutes(services, named),
    ...connectionRoutes(services, named),
    ...sessionConnectionRoutes(services, named),
    ...clientRoutes(services, { secrets, ...named }),
    ...credentialRoutes(services, secrets),
    ...tenantRoutes(services, cursors),
    ...organizationRoutes(services, cursors),
    ...invitationRoutes(inviting, {
      ...named,
      signUp: createSignUp({ ...inviting, ...passwordWork }),
      joinUrl: hasConsole ? `${baseUrl}/console/join` : undefined,
    }),
    ...ruleRoutes(
      { ...services, roles: config.peopleIssuer === undefined ? 'stored' : 'claimed' },
      named,
    ),
    ...auditRoutes(services, named),
    ...usageRoutes(services, { cursors }),
    ...budgetRoutes(services, { cursors }),
  };
  return scopeToTenant(handlers, store);
}

function offeredSignIn(config: Config): OfferedSignIn {
  const { baseUrl, hasConsole, hasClientRegistration: hasRegistration } = config;
  return { baseUrl, hasConsole, hasRegistration, hasSignIn: config.peopleIssuer === undefined };
}

function mcpParts({ clock, fanout }: HttpServices, { baseUrl, corsOrigins, hasConsole }: Config) {
  return {
    clock,
    fanout,
    version: manifest.version,
    origins: new Set([new URL(baseUrl).origin, ...corsOrigins]),
    linkTo: ({ tenantId, id }: Pick<Run, 'tenantId' | 'id'>) =>
      hasConsole ? `${baseUrl}/console/t/${tenantId}/runs/${id}` : undefined,
  };
}

function openTokenExchange(
  { store, clock }: Pick<HttpServices, 'store' | 'clock'>,
  { baseUrl, peopleIssuer }: Config,
  tokens: Authority['tokens'],
): TokenExchange {
  return createTokenExchange({
    store,
    clock,
    tokens,
    baseUrl,
    program: peopleIssuer?.consoleClientId ?? consoleClientId,
    limits: {
      perNetwork: createRateLimit(clock, tokenExchangeNetworkRate),
      perPersonAndNetwork: createRateLimit(clock, tokenExchangeRate),
    },
  });
}
