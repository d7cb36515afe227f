import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchAgent, agentFile, agentName } from '../agents.ts';
import { Client } from '../client.ts';
import { Server } from '../server.ts';
import { followRun, openSessions, requireWhole, startRun, warmUp } from '../workload.ts';
import { freePort } from '../../test/free-port.ts';
import { type Peer, startProgram } from './peer.ts';

const checkout = fileURLToPath(new URL('../../packages/cli/bin/convoke.mjs', import.meta.url));
/** A token lives for ten minutes. */
const reconnectMs = 60_000;
const connectionsMax = 1000;
const oneWord: BenchAgent = { deltas: 1 };
/**
 * As in bench/run.ts: a session executes its runs one after the other, and a caller that waits for none would fill its
 * queue.
 */
const sessionsPerCaller = 4;

interface Options {
  /** The `bin/convoke.mjs` of an installed Convoke; this checkout without it. */
  readonly program?: string;
  readonly folder: string;
  readonly talks: readonly BenchAgent[];
  /** Callers at once: each has sessions of its own. */
  readonly callers: number;
}

/** `convoke dev` on SQLite as a person starts it, without the rate limit. */
export async function startConvoke({
  program = checkout,
  folder,
  talks,
  callers,
}: Options): Promise<Peer> {
  const port = await freePort();
  const agents = [oneWord, ...talks];
  for (const agent of agents) {
    const place = join(folder, 'agents', agentName(agent));
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'agent.yaml'), agentFile(agent));
  }
  const child = startProgram([process.execPath, program, 'dev'], {
    cwd: folder,
    env: {
      CONVOKE_PORT: String(port),
      CONVOKE_DATA_DIR: join(folder, 'data'),
      CONVOKE_AGENTS_DIR: join(folder, 'agents'),
      CONVOKE_API_RATE_PER_MINUTE: '0',
    },
  });
  const server = new Server(child, { name: 'convoke', folder, agents, port });
  await server.ready();
  let client: { readonly to: Promise<Client>; readonly at: number } | undefined;
  const sessions = new Map<string, Promise<string[]>>();
  const connect = () => {
    if (client === undefined || performance.now() - client.at > reconnectMs) {
      const to = server.address().then((address) => new Client(address, connectionsMax));
      client = { to, at: performance.now() };
    }
    return client.to;
  };
  const sessionsFor = (agent: BenchAgent) => {
    const known = sessions.get(agentName(agent));
    const count = callers * sessionsPerCaller;
    const opened = known ?? connect().then((to) => warmSessions(to, agent, count));
    sessions.set(agentName(agent), opened);
    return opened;
  };
  const turns = new Map<number, number>();
  return {
    name: 'Convoke',
    processes: [child],
    async start(caller) {
      const opened = await sessionsFor(oneWord);
      const turn = (turns.get(caller) ?? 0) % sessionsPerCaller;
      turns.set(caller, turn + 1);
      await startRun(await connect(), opened[caller * sessionsPerCaller + turn] ?? '');
    },
    async talk(caller, talk) {
      const opened = await sessionsFor(talk);
      const to = await connect();
      const run = await startRun(to, opened[caller % opened.length] ?? '');
      requireWhole(await followRun(to, run), talk);
    },
    async fanOut(readers, talk) {
      const to = await connect();
      const [session = ''] = await openSessions(to, talk, 1);
      const run = await startRun(to, session);
      const read = () => followRun(to, run);
      for (const reader of await Promise.all(Array.from({ length: readers }, read))) {
        requireWhole(reader, talk);
      }
      return performance.now();
    },
  };
}

/** The first run of a session makes its folder. */
async function warmSessions(to: Client, agent: BenchAgent, callers: number): Promise<string[]> {
  const opened = await openSessions(to, agent, callers);
  await warmUp(to, opened);
  return opened;
}
