import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Convoke, compose } from './compose/compose.ts';
import type { Config } from './config/config.ts';
import type { RunBacklog } from './ports/repositories/runs/runs.ts';
import { closeInheritedDescriptors } from './runtime/inherited-descriptors.ts';
import { releaseMemoryAtRest } from './runtime/memory-release.ts';
import { keepNewObjectsYoung } from './runtime/young-objects.ts';

type Quickstart = Awaited<ReturnType<Convoke['quickstart']>>;

/** The end of the drain, for saving folders and closing everything. */
const closingMs = 10_000;
/** The least part of a short drain that legs have. */
const legShare = 0.6;

export interface RunningServer {
  readonly convoke: Convoke;
  /** Where it listens, as `127.0.0.1:8787`; behind a proxy clients use another address, `convoke.baseUrl`. */
  readonly listensOn: string;
  /** What the quickstart made, if it was asked for. */
  readonly quickstart: Quickstart | undefined;
  /** Resolves when a signal begins to stop the server. */
  readonly stopping: Promise<unknown>;
  /** Resolves when everything is closed, with the runs that are left for the next start. */
  readonly stopped: Promise<RunBacklog | undefined>;
}

export interface RunOptions {
  /** Creates an organization and a client to try the server with, and writes them into the data folder. */
  readonly quickstart?: boolean;
  /** Gets what programs of agents print, line by line. They may print anything, so it belongs into no log. */
  readonly showOutput?: (agent: string, line: string) => void;
}

/** Starts the server and drains it on SIGTERM or SIGINT; a second signal exits at once. */
export async function runServer(
  given: Config,
  { quickstart = false, showOutput }: RunOptions = {},
): Promise<RunningServer> {
  const inherited = closeInheritedDescriptors();
  // Whatever this process creates is private, unless it says otherwise.
  process.umask(0o077);
  const config = given.port === 0 ? await onFreePort(given) : given;
  const convoke = await compose(config, { showOutput });
  if (inherited.length > 0) {
    const fields = { descriptors: inherited.join(', ') };
    convoke.services.log.info('closed files that the starting process left open', fields);
  }
  let made: Quickstart | undefined;
  try {
    await convoke.app.listen({ host: config.host, port: config.port });
    if (quickstart) made = await convoke.quickstart();
    await convoke.start();
  } catch (error) {
    // A server that failed to start must not keep its port and files.
    await convoke.stop(0);
    throw error;
  }
  keepNewObjectsYoung();
  releaseMemoryAtRest();
  const listensOn = listeningAddress(convoke);
  const stopping = untilSignal();
  const stopped = stopping.then((signal) => drain(convoke, config, signal));
  return { convoke, listensOn, quickstart: made, stopping, stopped };
}

function listeningAddress({ app }: Convoke): string {
  const { address, port } = app.server.address() as AddressInfo;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isDraining = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (isDraining) process.exit(1);
      isDraining = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

async function drain(
  convoke: Convoke,
  config: Config,
  signal: NodeJS.Signals,
): Promise<RunBacklog | undefined> {
  const { drainMs } = config;
  // Exit even if something hangs: recovery continues or ends what was not recorded.
  setTimeout(() => process.exit(1), drainMs - 1000).unref();
  const graceMs = Math.max(drainMs - closingMs, drainMs * legShare);
  return convoke.stop(graceMs, Math.min(closingDelayMs(config, signal), graceMs));
}

/**
 * How long a server that is no longer ready keeps serving, so that load balancers notice first (D-311). Only where
 * another server can take the requests, and not after Ctrl-C.
 */
function closingDelayMs(config: Config, signal: NodeJS.Signals): number {
  const { databaseUrl, cluster, drainDelayMs } = config;
  const isBalanced = databaseUrl !== undefined && cluster.roles.has('api');
  return signal === 'SIGTERM' && isBalanced ? drainDelayMs : 0;
}

/** Tokens name the server's address, so the port must be known before the server is assembled. */
async function onFreePort(config: Config): Promise<Config> {
  const probe = createServer().listen({ host: config.host, port: 0 });
  await once(probe, 'listening');
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  probe.close();
  await once(probe, 'close');
  return { ...config, port, baseUrl: config.baseUrl.replace(/:0$/, `:${port}`) };
}
