import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { canServe } from '../app/readiness.ts';
import type { Services } from '../app/services.ts';
import { builtInCredentials } from '../auth/built-in-credentials.ts';
import { loadMasterKey } from '../auth/master-key.ts';
import type { Config } from '../config/config.ts';
import { closeApp } from '../http/close-app.ts';
import { type Quickstart, ensureQuickstart } from '../quickstart.ts';
import { holdDataFolder, publishAddress } from '../runtime/data-folder.ts';
import { createFolderProvisioner } from '../session-folders/folder-provisioner.ts';
import { Background } from '../workers/background.ts';
import type { BackgroundServices } from '../workers/catalogue.ts';
import { prepareEventLog } from '../workers/prepare-event-log.ts';
import { openAuthority } from './authority.ts';
import { openHttp } from './http.ts';
import { type Overrides, openServices } from './services.ts';

/** A server that is assembled but not yet listening. */
export interface Convoke {
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  readonly services: Services;
  /** Agent folders that could not be read, for the person who starts the server. */
  readonly agentProblems: readonly { readonly folder: string; readonly reason: string }[];
  /** Recovers the runs of an earlier process, then executes runs. The server is ready from here on. */
  start(): Promise<void>;
  quickstart(): Promise<Quickstart>;
  /** Ends readiness, closes streams between two events, gives legs `graceMs` to end, then closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Assembles a server from its adapters. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Convoke> {
  // Closes what is open already when a later step fails: a connection left open would keep the process alive.
  await using opening = new AsyncDisposableStack();
  const folder = holdDataFolder(config.dataDir);
  opening.defer(() => folder.release());
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const opened = await openServices(config, overrides, { masterKey, closers: opening });
  // Before the first event is written: an event outside every partition stays outside.
  await prepareEventLog(opened);
  const authority = await openAuthority(
    opened,
    { ...config, clientTokenSeconds: overrides.clientTokenSeconds },
    masterKey,
  );
  const services = { ...opened, provider: overrides.provider ?? builtInCredentials };
  const background = createBackground({ ...services, keys: authority.keys }, config);
  let isStarted = false;
  const { app, streams } = openHttp(
    { ...services, slots: background?.slots },
    {
      config,
      authority,
      masterKey,
      isReady: async () => isStarted && (await canServe(services.store)),
      streamCaps: overrides.streamCaps,
    },
  );

  const open = opening.move();
  return {
    app,
    baseUrl: config.baseUrl,
    services,
    agentProblems: services.agents.problems(),
    quickstart: () => ensureQuickstart({ services, ...authority, ...config }),

    async start() {
      await background?.start();
      publishAddress(config.dataDir, config.baseUrl);
      isStarted = true;
    },

    async stop(graceMs) {
      isStarted = false;
      streams.close();
      // Requests are still answered, and readiness says no, while legs end.
      await background?.stop(graceMs);
      await closeApp(app, services.clock);
      await open.disposeAsync();
    },
  };
}

/** Undefined for a server that only answers requests. */
function createBackground(
  services: Omit<BackgroundServices, 'provisioner'>,
  config: Config,
): Background | undefined {
  if (!config.cluster.roles.has('worker')) return undefined;
  const provisioner = createFolderProvisioner(config);
  return new Background(
    { ...services, provisioner },
    {
      owner: randomUUID(),
      isAlone: config.databaseUrl === undefined,
      elapsed: () => performance.now(),
      eventRetentionMs: config.cluster.eventRetentionMs,
      folderRetentionMs: config.cluster.folderRetentionMs,
      dataDir: config.dataDir,
    },
  );
}
