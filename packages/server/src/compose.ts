import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import manifest from '../package.json' with { type: 'json' };
import { RunFollower } from './app/follow.ts';
import type { Services } from './app/services.ts';
import type { WithdrawingServices } from './app/withdrawals.ts';
import { rotateOldKeys } from './auth/key-rotation.ts';
import { deriveKey, loadMasterKey } from './auth/master-key.ts';
import { createTokenEndpoint } from './auth/token-endpoint.ts';
import { type Authority, openAuthority } from './compose/authority.ts';
import { openBlobs } from './compose/blobs.ts';
import { openClock, openStore } from './compose/database.ts';
import { openFanout } from './compose/fanout.ts';
import { showMetrics } from './compose/metrics.ts';
import { letPeopleIn, peoplePasses } from './compose/people.ts';
import type { Config } from './config/config.ts';
import { inOwnContext } from './fanout/in-own-context.ts';
import { a2aHarness } from './harness/a2a/harness.ts';
import { acpHarness } from './harness/acp/harness.ts';
import { claudeHarness } from './harness/claude/harness.ts';
import { aiSdkHarness } from './harness/ai-sdk/harness.ts';
import { openAgents } from './harness/registry.ts';
import { openSandbox } from './harness/sandbox/sandbox.ts';
import { scriptedHarness } from './harness/scripted/harness.ts';
import { stdioHarness } from './harness/stdio/harness.ts';
import type { SuperviseServices } from './harness/supervise.ts';
import { openWorkspaces } from './harness/workspace.ts';
import { createApp } from './http/app.ts';
import { confined } from './http/confined.ts';
import { type Cursors, createCursors } from './http/cursors.ts';
import { createDenials } from './http/denials.ts';
import { EventStreams } from './http/event-streams.ts';
import type { Handlers } from './http/handler.ts';
import { apiRate, createRateLimit, managementRate, tokenFailureRate } from './http/rate-limit.ts';
import { agentRoutes } from './http/routes/agents.ts';
import { clientRoutes } from './http/routes/clients.ts';
import { credentialRoutes } from './http/routes/credentials.ts';
import { fileRoutes } from './http/routes/files.ts';
import { interactionRoutes } from './http/routes/interactions.ts';
import { oauthRoutes } from './http/routes/oauth.ts';
import { runRoutes } from './http/routes/runs.ts';
import { sessionRoutes } from './http/routes/sessions.ts';
import { systemRoutes } from './http/routes/system.ts';
import { tenantRoutes } from './http/routes/tenants.ts';
import { workspaceRoutes } from './http/routes/workspaces.ts';
import type { Clock } from './ports/clock.ts';
import type { CredentialProvider } from './ports/credential-provider.ts';
import type { Harness } from './ports/harness.ts';
import type { Log } from './ports/log.ts';
import type { Sandbox, SandboxReport } from './ports/sandbox.ts';
import type { Store } from './ports/store.ts';
import { type Quickstart, ensureQuickstart } from './quickstart.ts';
import { builtInCredentials } from './system/built-in-credentials.ts';
import { holdDataFolder, publishAddress } from './system/data-folder.ts';
import { createFolderProvisioner } from './system/folder-provisioner.ts';
import { createIds } from './system/ids.ts';
import { createLog } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createTraces } from './telemetry/traces.ts';
import {
  type Background,
  type BackgroundOptions,
  hourly,
  startBackground,
} from './workers/background.ts';
import { revocationPasses } from './workers/finish-revocations.ts';
import { eventLogPasses, prepareEventLog } from './workers/keep-event-log.ts';
import { releasePasses } from './workers/release-sessions.ts';
import { tenantPasses } from './workers/tenant-passes.ts';

/** What requests under way get to come to their end once the legs have. */
const requestGraceMs = 5_000;

/** What a server that only executes runs answers: whoever looks after it must be able to ask how it is. */
const healthOperations: ReadonlySet<string> = new Set(['get_health', 'get_readiness']);

/** A server that is put together but not yet listening. */
export interface Convoke {
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  readonly services: Services;
  /** Agent folders that could not be read, to be told to whoever starts the server. */
  readonly agentProblems: readonly { readonly folder: string; readonly reason: string }[];
  /** Recovers what an earlier process left, then executes runs. Ready from here on. */
  start(): Promise<void>;
  quickstart(): Promise<Quickstart>;
  rotateSigningKey(): Promise<string>;
  /** What holds of the sandbox on this machine. */
  describeSandbox(): Promise<SandboxReport>;
  /** Readiness off, streams closed at a frame boundary, legs given time, everything put away. */
  stop(graceMs: number): Promise<void>;
}

/** What a test may put in the place of the real thing. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Frameworks beside those of the build. */
  readonly harnesses?: readonly Harness[];
  /** Stands between everything and the store, to make it fail. */
  readonly wrapStore?: (store: Store) => Store;
  /** Where client secrets are kept, instead of here. */
  readonly provider?: CredentialProvider;
}

/** The only place that names adapters. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Convoke> {
  const folder = holdDataFolder(config.dataDir);
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const services = await openServices(config, overrides, masterKey);
  const { store, clock, log, agents } = services;
  // Before the first event is written: what lies outside a stretch stays outside.
  await prepareEventLog(services);
  const authority = await openAuthority(services, config, masterKey);
  const streams = new EventStreams({
    clock,
    log,
    metrics: services.metrics,
    maxAgeMs: config.settings.streamMaxAgeMs,
    fanout: services.fanout,
    recheck: (caller) => authority.gate.recheck(caller),
  });
  const provider = overrides.provider ?? builtInCredentials;
  const withdrawing = { ...services, provider };
  const { roles } = config.cluster;
  const isApi = roles.has('api');
  let isOpen = false;
  const app = createApp({
    handlers: handlersOf(withdrawing, authority, {
      config,
      streams,
      cursors: createCursors(deriveKey(masterKey, 'cursors')),
      isReady: async () => isOpen && (await isReadable(store)),
    }),
    serves: isApi ? () => true : ({ id }) => healthOperations.has(id),
    gate: authority.gate,
    denials: createDenials({ ...services, gate: authority.gate }),
    limits: {
      application: createRateLimit(clock, apiRate(config.apiRatePerMinute)),
      management: createRateLimit(clock, managementRate(config.managementRatePerMinute)),
    },
    ids: services.ids,
    log,
    metrics: services.metrics,
    traces: services.traces,
  });

  if (isApi) letPeopleIn(app, services, { config, authority, masterKey });
  showMetrics(app, services, { config, streams });

  let background: Background | undefined;
  return {
    app,
    baseUrl: config.baseUrl,
    services,
    agentProblems: agents.problems(),
    quickstart: () => ensureQuickstart({ services, ...authority, ...config }),
    rotateSigningKey: () => authority.keys.rotate(),
    describeSandbox: () => services.sandbox.describe(),

    async start() {
      if (roles.has('worker')) {
        background = await startBackground(services, {
          owner: randomUUID(),
          isAlone: config.databaseUrl === undefined,
          elapsed: () => performance.now(),
          passes: passesOf(withdrawing, authority, config),
        });
      }
      publishAddress(config.dataDir, config.baseUrl);
      isOpen = true;
    },

    async stop(graceMs) {
      isOpen = false;
      streams.close();
      // Answers requests, and says that it is not ready, for as long as legs take to end.
      await background?.stop(graceMs);
      await closeApp(app, clock);
      await services.sandbox.close();
      await agents.close();
      await services.fanout.close();
      await store.close();
      folder.release();
    },
  };
}

/** Background work beyond runs, by name. */
function passesOf(
  services: OpenServices & WithdrawingServices,
  { keys }: Authority,
  config: Config,
): BackgroundOptions['passes'] {
  return {
    ...revocationPasses(services),
    ...peoplePasses(services),
    ...releasePasses(services),
    ...eventLogPasses(services, config.cluster.eventRetentionMs),
    ...tenantPasses({ ...services, provisioner: createFolderProvisioner(config) }),
    'rotating signing keys': hourly(() => rotateOldKeys({ ...services, keys })),
  };
}

/** No connection is taken any more; who does not finish with theirs in time does not hold up the end. */
async function closeApp(app: FastifyInstance, clock: Clock): Promise<void> {
  const forget = clock.after(requestGraceMs, () => app.server.closeAllConnections());
  await app.close();
  forget();
}

type OpenServices = SuperviseServices & {
  readonly sandbox: Sandbox;
  readonly metrics: ReturnType<typeof createMetrics>;
};

async function openServices(
  config: Config,
  overrides: Overrides,
  masterKey: Uint8Array,
): Promise<OpenServices> {
  const { dataDir, agentsDir, settings } = config;
  const log = overrides.log ?? createLog({ level: config.logLevel });
  // First, so that a start which it stops leaves nothing open.
  const blobs = await openBlobs(config);
  const metrics = createMetrics();
  const store = await openStore(config, { log, metrics });
  const clock = overrides.clock ?? (await openClock(config, { store, log }));
  const sandbox = await openSandbox({ mode: config.sandbox, dataDir, clock, log });
  const parts = { sandbox, clock, log, a2aAllow: config.a2aAllow };
  const built = [...builtHarnesses(parts), ...(overrides.harnesses ?? [])];
  const harnesses = new Map(built.map((harness) => [harness.framework, harness]));
  const agents = await openAgents({
    folder: agentsDir,
    frameworks: new Set(harnesses.keys()),
    log,
    validate: (agent) => harnesses.get(agent.framework)?.check?.(agent) ?? [],
  });
  return {
    store: overrides.wrapStore?.(store) ?? store,
    clock,
    ids: createIds(clock),
    log,
    metrics,
    traces: createTraces(),
    agents,
    harnesses,
    fanout: inOwnContext(await openFanout(config, { log, masterKey })),
    blobs,
    workspaces: openWorkspaces({
      dataDir,
      log,
      withoutHome: new Set(['scripted', 'a2a']),
      account: sandbox.account,
      follow: config.databaseUrl !== undefined,
    }),
    sandbox,
    settings,
  };
}

interface HarnessParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly a2aAllow: readonly string[];
}

/** The frameworks of this build. */
export function builtHarnesses(parts: HarnessParts): readonly Harness[] {
  return [
    scriptedHarness(parts),
    aiSdkHarness(parts),
    stdioHarness(parts),
    acpHarness(parts),
    claudeHarness(parts),
    a2aHarness({ ...parts, allow: parts.a2aAllow }),
  ];
}

interface HttpParts {
  readonly config: Config;
  readonly cursors: Cursors;
  readonly streams: EventStreams;
  readonly isReady: () => Promise<boolean>;
}

/** One handler per declared operation: a missing one does not compile. */
function handlersOf(
  services: Services & WithdrawingServices,
  { secrets, keys, tokens }: Authority,
  { config, cursors, streams, isReady }: HttpParts,
): Handlers {
  const { store, clock, log } = services;
  const { baseUrl } = config;
  const failures = createRateLimit(clock, tokenFailureRate);
  const endpoint = createTokenEndpoint({ store, tokens, secrets, clock, log, failures });
  const runParts = { cursors, streams, follower: new RunFollower(services) };
  const handlers: Handlers = {
    ...systemRoutes({ version: manifest.version, baseUrl, isReady }),
    ...oauthRoutes({ endpoint, keys, baseUrl, metrics: services.metrics }),
    ...workspaceRoutes(services, cursors),
    ...agentRoutes(services, runParts),
    ...sessionRoutes(services, cursors),
    ...runRoutes(services, runParts),
    ...interactionRoutes(services, cursors),
    ...fileRoutes(services, cursors),
    ...clientRoutes(services, { secrets, cursors }),
    ...credentialRoutes(services, secrets),
    ...tenantRoutes(services, cursors),
  };
  return confined(handlers, store);
}

async function isReadable(store: Store): Promise<boolean> {
  return store.read.organizations.first().then(
    () => true,
    () => false,
  );
}
