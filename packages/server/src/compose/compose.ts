import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../app/services.ts';
import type { WithdrawingServices } from '../app/withdrawals.ts';
import { builtInCredentials } from '../auth/built-in-credentials.ts';
import { rotateOldKeys } from '../auth/key-rotation.ts';
import { loadMasterKey } from '../auth/master-key.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { RunSlots } from '../ports/run-slots.ts';
import type { SandboxReport } from '../ports/sandbox.ts';
import type { Store } from '../ports/store.ts';
import { type Quickstart, ensureQuickstart } from '../quickstart.ts';
import { holdDataFolder, publishAddress } from '../runtime/data-folder.ts';
import { createFolderProvisioner } from '../session-folders/folder-provisioner.ts';
import {
  type Background,
  type BackgroundOptions,
  hourly,
  startBackground,
} from '../workers/background.ts';
import { revocationPasses } from '../workers/finish-withdrawals.ts';
import { eventLogPasses, prepareEventLog } from '../workers/forget-old-events.ts';
import { releasePasses } from '../workers/release-sessions.ts';
import { tenantPasses } from '../workers/tenant-passes.ts';
import { type Authority, openAuthority } from './authority.ts';
import { openHttp } from './http.ts';
import { type OpenServices, type Overrides, openServices } from './services.ts';
import { peoplePasses } from './sign-in.ts';

/** What requests under way get to come to their end once the legs have. */
const requestGraceMs = 5_000;

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

/** The only place that names adapters. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Convoke> {
  const folder = holdDataFolder(config.dataDir);
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const services = await openServices(config, overrides, masterKey);
  const { store, clock, agents } = services;
  // Before the first event is written: an event written outside of any partition stays outside.
  await prepareEventLog(services);
  const authority = await openAuthority(services, config, masterKey);
  const provider = overrides.provider ?? builtInCredentials;
  const withdrawing = { ...services, provider };
  let isOpen = false;
  let background: Background | undefined;
  const places: RunSlots = { reserve: (run) => background?.reserve(run) };
  const { app, streams } = openHttp(
    { ...withdrawing, places },
    {
      config,
      authority,
      masterKey,
      isReady: async () => isOpen && (await isReadable(store)) && (await store.takesWrites()),
      streamCaps: overrides.streamCaps,
    },
  );

  return {
    app,
    baseUrl: config.baseUrl,
    services,
    agentProblems: agents.problems(),
    quickstart: () => ensureQuickstart({ services, ...authority, ...config }),
    rotateSigningKey: () => authority.keys.rotate(),
    describeSandbox: () => services.sandbox.describe(),

    async start() {
      if (config.cluster.roles.has('worker')) {
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

async function isReadable(store: Store): Promise<boolean> {
  return store.read.organizations.first().then(
    () => true,
    () => false,
  );
}
