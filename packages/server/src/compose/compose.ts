import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { canServe } from '../app/readiness.ts';
import { builtInCredentials } from '../auth/built-in-credentials.ts';
import { loadMasterKey } from '../auth/master-key.ts';
import type { Config } from '../config/config.ts';
import type { ExecutionServices } from '../execution/services.ts';
import { closeApp } from '../http/close-app.ts';
import type { RunBacklog } from '../ports/repositories/runs/runs.ts';
import { type Quickstart, ensureQuickstart, quickstartLink } from '../quickstart.ts';
import { holdDataFolder, publishAddress } from '../runtime/data-folder.ts';
import { onBackgroundError } from '../runtime/in-background.ts';
import { machineId } from '../runtime/machine-id.ts';
import { createFolderProvisioner } from '../session-folders/folder-provisioner.ts';
import { Background } from '../workers/background.ts';
import type { BackgroundServices } from '../workers/catalogue.ts';
import { prepareEventLog } from '../workers/prepare-event-log.ts';
import { openAuthority } from './authority.ts';
import { openHttp } from './http.ts';
import { type OpenServices, type Overrides, openServices } from './services.ts';

/** A server that is assembled but not yet listening. */
export interface Convoke {
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  readonly services: ExecutionServices;
  /** Agent folders that could not be read, for the person who starts the server. */
  readonly agentProblems: readonly { readonly folder: string; readonly reason: string }[];
  /**
   * Recovers the runs of an earlier process, then executes runs. The server is ready from here on, and detects its
   * sandbox.
   */
  start(): Promise<void>;
  quickstart(): Promise<Quickstart>;
  /** The address of a one-time link for the owner of the quickstart; undefined where a link would not work. */
  consoleLink(): Promise<string | undefined>;
  /**
   * Ends readiness, closes streams between two events, gives legs `graceMs` to hand their runs over or to end, then
   * closes everything. Streams and port stay open for `delayMs` after readiness has ended (D-311). Returns the runs
   * that are left for the next start; undefined where other servers may continue them.
   */
  stop(graceMs: number, delayMs?: number): Promise<RunBacklog | undefined>;
}

/** More runs of a kind than this are not counted when a server stops. */
const leftMax = 1000;

/** Assembles a server from its adapters. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Convoke> {
  // Closes what is open already when a later step fails: a connection left open would keep the process alive.
  await using opening = new AsyncDisposableStack();
  const folder = holdDataFolder(config.dataDir);
  opening.defer(() => folder.release());
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const opened = await openServices(config, overrides, { masterKey, closers: opening });
  opening.defer(
    onBackgroundError((error) => opened.log.error('work in the background failed', error)),
  );
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
  let isDraining = false;
  const { app, streams } = openHttp(
    { ...services, slots: background?.slots },
    {
      config,
      authority,
      masterKey,
      isReady: async () => isStarted && (await canServe(services.store)),
      draining: () => (isDraining ? (background?.load ?? { legs: 0, inFlight: 0 }) : undefined),
      streamCaps: overrides.streamCaps,
      answerCaps: overrides.answerCaps,
      consoleFolder: overrides.consoleFolder,
    },
  );

  const open = opening.move();
  return {
    app,
    baseUrl: config.baseUrl,
    services,
    agentProblems: services.agents.problems(),
    quickstart: () => ensureQuickstart({ services, ...authority, ...config }),

    consoleLink: () => quickstartLink({ services, ...config }),

    async start() {
      await background?.start();
      publishAddress(config.dataDir, config.baseUrl);
      isStarted = true;
      // Not before: it starts programs, and a run that needs the result waits for it. It logs a failure itself.
      services.sandbox.describe().catch(() => undefined);
    },

    async stop(graceMs, delayMs = 0) {
      isStarted = false;
      isDraining = true;
      const delayed = delayMs > 0 ? pause(services.clock, delayMs) : undefined;
      if (delayed === undefined) streams.close();
      // Requests are still answered, and readiness says no, while legs end.
      await Promise.all([delayed?.then(() => streams.close()), background?.stop(graceMs)]);
      const left = services.isSingleServer ? await countLeft(services.store) : undefined;
      await closeApp(app, services.clock);
      await open.disposeAsync();
      return left;
    },
  };
}

function pause(clock: OpenServices['clock'], ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

function countLeft({ read }: OpenServices['store']): Promise<RunBacklog | undefined> {
  return read.runs.backlog(leftMax).catch(() => undefined);
}

/** Undefined for a server that only answers requests. */
function createBackground(
  services: Omit<BackgroundServices, 'provisioner'> & Pick<OpenServices, 'sandbox'>,
  config: Config,
): Background | undefined {
  if (!config.cluster.roles.has('worker')) return undefined;
  const provisioner = createFolderProvisioner(config);
  return new Background(
    { ...services, provisioner },
    {
      owner: randomUUID(),
      machine: machineId(config.dataDir),
      elapsed: () => performance.now(),
      eventRetentionMs: config.cluster.eventRetentionMs,
      noticeRetentionMs: config.cluster.noticeRetentionMs,
      folderRetentionMs: config.cluster.folderRetentionMs,
      dataDir: config.dataDir,
      sandbox: services.sandbox,
    },
  );
}
