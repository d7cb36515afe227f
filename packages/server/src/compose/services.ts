import { readPrices } from '../agents/prices-file.ts';
import { openAgents } from '../agents/registry.ts';
import { clientSecretOf } from '../agents/client-secret.ts';
import { createCallbacks } from '../auth/callbacks.ts';
import { deriveKey } from '../auth/master-key.ts';
import { createConnectLinks } from '../auth/connect-links.ts';
import { createConnectionSecrets } from '../auth/connection-secrets.ts';
import { createWebhookSecrets } from '../auth/webhook-secrets.ts';
import type { Config } from '../config/config.ts';
import { readAllowList } from '../egress/allow-list.ts';
import { createTenantLookups } from '../egress/tenant-lookups.ts';
import { createServiceDiscovery } from '../egress/service-discovery.ts';
import { createTokenEndpoints } from '../egress/token-endpoints.ts';
import { createWebhookSender } from '../egress/webhook-sender.ts';
import { TokenRequests } from '../app/connections/token-requests.ts';
import { KnownRules } from '../app/rules/known-rules.ts';
import type { ExecutionServices } from '../execution/services.ts';
import { inOwnContext } from '../fanout/in-own-context.ts';
import { a2aHarness } from '../harness/a2a/harness.ts';
import { acpHarness } from '../harness/acp/harness.ts';
import { aiSdkHarness } from '../harness/ai-sdk/harness.ts';
import { claudeHarness } from '../harness/claude/harness.ts';
import { scriptedHarness } from '../harness/scripted/harness.ts';
import { codeHarness } from '../harness/code/harness.ts';
import { stdioHarness } from '../harness/stdio/harness.ts';
import type { ShowOutput } from '../harness/stdio/shown-output.ts';
import type { AnswerCaps } from '../http/answers/answers-under-way.ts';
import type { StreamCaps } from '../http/streams/admitted-streams.ts';
import type { Clock } from '../ports/clock.ts';
import type { CredentialProvider } from '../ports/credential-provider.ts';
import type { Harness } from '../ports/harness.ts';
import type { Log } from '../ports/log.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { Store } from '../ports/store.ts';
import type { WebhookSecrets } from '../ports/webhooks/secrets.ts';
import type { WebhookSender } from '../ports/webhooks/sender.ts';
import { createIds } from '../runtime/ids.ts';
import { auditedCallRate, createRateLimit } from '../runtime/rate-limit.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { openSessionFolders } from '../session-folders/session-folders.ts';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { openBlobs } from './blobs.ts';
import { openClock, openStore } from './database.ts';
import { openFanout } from './fanout.ts';
import { openPush } from './metrics.ts';
import { openTraces } from './traces.ts';

/** Replacements for tests, and what a development server adds. */
export interface Overrides {
  /** Gets what programs of agents print, line by line. */
  readonly showOutput?: ShowOutput | undefined;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Frameworks beside those of the build. */
  readonly harnesses?: readonly Harness[];
  /** Wraps the store, to make it fail. */
  readonly wrapStore?: (store: Store) => Store;
  /** Keeps client secrets outside this server. */
  readonly provider?: CredentialProvider;
  /** Bounds of open streams, small enough to reach in a test. */
  readonly streamCaps?: StreamCaps;
  /** Bounds of answers that are not read yet, small enough to reach in a test. */
  readonly answerCaps?: AnswerCaps;
  /** Lifetime of a client's token, short enough to wait for its end. */
  readonly clientTokenSeconds?: number;
  /** Name servers for the hosts of webhooks and connections, as `address:port`. */
  readonly nameServers?: readonly string[];
  /** The folder of the built console. */
  readonly consoleFolder?: string;
}

export type OpenServices = ExecutionServices & {
  readonly webhookSecrets: WebhookSecrets;
  readonly webhookSender: WebhookSender;
  readonly sandbox: Sandbox;
  readonly metrics: ReturnType<typeof createMetrics>;
};

export interface Opening {
  readonly masterKey: Uint8Array;
  /** Closes each service; used also when a later one cannot be opened. */
  readonly closers: AsyncDisposableStack;
}

/** Opens the services that everything else uses. */
export async function openServices(
  config: Config,
  overrides: Overrides,
  { masterKey, closers }: Opening,
): Promise<OpenServices> {
  const { dataDir, agentsDir, settings } = config;
  const isSingleServer = config.databaseUrl === undefined;
  const log = overrides.log ?? createLog(config.log);
  const prices = await readPrices(config.pricesFile);
  const blobs = await openBlobs(config);
  const { roles, blobs: files } = config.cluster;
  if (roles.size === 1 && files.kind === 'disk' && files.folder === undefined) {
    log.warn('uploaded files stay on the disk of this server: set CONVOKE_BLOBS on all servers');
  }
  const metrics = createMetrics();
  const store = await openStore(config, {
    log,
    masterKey,
    metrics,
    poolSize: config.databaseConnections,
  });
  closers.defer(() => store.close());
  const clock = overrides.clock ?? (await openClock(config, { store, log }));
  const tokenRequests = new TokenRequests(clock);
  closers.defer(() => tokenRequests.close());
  const fanout = await openFanout(config, { log, metrics, masterKey });
  closers.defer(() => fanout.close());
  const sandbox = await openSandbox({ mode: config.sandbox, dataDir, clock, log });
  closers.defer(() => sandbox.close());
  const { showOutput } = overrides;
  const parts = { sandbox, clock, log, a2aAllow: config.a2aAllow, showOutput };
  const built = [...builtHarnesses(parts), ...(overrides.harnesses ?? [])];
  const harnesses = new Map(built.map((harness) => [harness.framework, harness]));
  const agents = await openAgents({ folder: agentsDir, harnesses, log, prices });
  closers.defer(() => agents.close());
  const traces = await openTraces(config.telemetry, { log, agents, harnesses });
  closers.defer(() => traces.close());
  const push = await openPush(config.telemetry.metrics, { metrics, log });
  closers.defer(() => push.close());
  return {
    store: overrides.wrapStore?.(store) ?? store,
    clock,
    ids: createIds(clock),
    log,
    metrics,
    traces,
    agents,
    harnesses,
    fanout: inOwnContext(fanout),
    blobs,
    sessionFolders: openSessionFolders({
      dataDir,
      log,
      withoutHome: new Set(['scripted', 'a2a']),
      account: sandbox.account,
      isClustered: !isSingleServer,
    }),
    sandbox,
    settings: { ...settings, consoleConnectUrl: consoleConnectUrlOf(config) },
    isSingleServer,
    knownRules: new KnownRules(),
    auditedCalls: createRateLimit(clock, auditedCallRate),
    tokenRequests,
    callbacks: createCallbacks(deriveKey(masterKey, 'callbacks'), config.baseUrl),
    ...outgoing(config, { masterKey, clock, nameServers: overrides.nameServers }),
    prices,
  };
}

function consoleConnectUrlOf({ hasConsole, baseUrl }: Config): string | undefined {
  return hasConsole ? `${baseUrl}/console/t/{tenant_id}/connect/{session_id}/{service}` : undefined;
}

interface OutgoingParts extends Pick<Opening, 'masterKey'> {
  readonly clock: Clock;
  readonly nameServers: Overrides['nameServers'];
}

/** What calls addresses that tenants chose, with secrets that are kept for them. */
function outgoing(
  { webhookAllow, connectionAllow, baseUrl, corsOrigins }: Config,
  { masterKey, clock, nameServers }: OutgoingParts,
) {
  const resolve = createTenantLookups({ clock, servers: nameServers });
  const connectionAddresses = {
    allow: readAllowList('CONVOKE_CONNECTION_ALLOW', connectionAllow),
    clock,
    resolve,
  };
  return {
    webhookSecrets: createWebhookSecrets(deriveKey(masterKey, 'webhook-secrets')),
    webhookSender: createWebhookSender({
      allow: readAllowList('CONVOKE_WEBHOOK_ALLOW', webhookAllow),
      clock,
      resolve,
    }),
    connectLinks: createConnectLinks({
      key: deriveKey(masterKey, 'connection-secrets'),
      baseUrl,
      origins: corsOrigins,
      clientSecretOf,
    }),
    connectionSecrets: createConnectionSecrets(deriveKey(masterKey, 'connection-secrets')),
    tokenEndpoints: createTokenEndpoints(connectionAddresses),
    serviceDiscovery: createServiceDiscovery(connectionAddresses),
  };
}

interface HarnessParts {
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly a2aAllow: readonly string[];
  readonly showOutput?: ShowOutput | undefined;
}

/** The frameworks of this build. */
export function builtHarnesses(parts: HarnessParts): readonly Harness[] {
  return [
    scriptedHarness(parts),
    aiSdkHarness(parts),
    stdioHarness(parts),
    codeHarness(parts),
    acpHarness(parts),
    claudeHarness(parts),
    a2aHarness({ ...parts, allow: parts.a2aAllow }),
  ];
}
