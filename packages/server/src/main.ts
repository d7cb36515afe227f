import { once } from 'node:events';
import { createServer } from 'node:net';
import { limits } from '@convoke/contract';
import { type Convoke, compose } from './compose/compose.ts';
import type { Config } from './config/config.ts';

/** Of the time a drain may take, what legs get to end by themselves; the rest is for putting away. */
const legGraceMs = limits.drainMs * 0.6;

export interface RunningServer {
  readonly convoke: Convoke;
  /** Resolves when a signal has stopped the server and everything is put away. */
  readonly stopped: Promise<void>;
}

export interface RunOptions {
  /** Makes an organization and a client to try the server with, and writes them into the data folder. */
  readonly quickstart?: boolean;
}

/** Starts, listens, and drains on SIGTERM or SIGINT; a second signal exits at once. */
export async function runServer(
  given: Config,
  { quickstart = false }: RunOptions = {},
): Promise<RunningServer> {
  const config = given.port === 0 ? await onFreePort(given) : given;
  const convoke = await compose(config);
  try {
    await convoke.app.listen({ host: config.host, port: config.port });
    if (quickstart) await convoke.quickstart();
    await convoke.start();
  } catch (error) {
    // Half a server must not stay behind the message that says why there is none.
    await convoke.stop(0);
    throw error;
  }
  return { convoke, stopped: drainOnSignal(convoke) };
}

async function drainOnSignal(convoke: Convoke): Promise<void> {
  await new Promise<void>((resolve) => {
    let isDraining = false;
    const onSignal = () => {
      if (isDraining) process.exit(1);
      isDraining = true;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
  // Something that hangs must not keep the process: what is durable is durable, recovery does the rest.
  setTimeout(() => process.exit(1), limits.drainMs - 1000).unref();
  await convoke.stop(legGraceMs);
}

/** Tokens name the server's address, so the port has to be known before anything is put together. */
async function onFreePort(config: Config): Promise<Config> {
  const probe = createServer().listen({ host: config.host, port: 0 });
  await once(probe, 'listening');
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  probe.close();
  await once(probe, 'close');
  return { ...config, port, baseUrl: config.baseUrl.replace(/:0$/, `:${port}`) };
}
