/**
 * `node bench/exported.ts [rounds]`: what it costs that runs are exported, over HTTP: from the start request to the
 * last event of a run of 50 words, as callers make them. Processor time of two servers on SQLite, in turn; one of them
 * sends traces and metrics to this process.
 */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../test/remove-folder.ts';
import { Client } from './client.ts';
import { type Server, startServer } from './server.ts';
import { followRun, openSessions, requireWhole, sideBySide, startRun, warmUp } from './workload.ts';

const rounds = Number(process.argv[2] ?? 25);
/** Rounds until V8 has compiled what a run needs. */
const warmUps = 20;
const runsPerRound = 160;
const agent = { deltas: 50 };

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
receiver.listen({ host: '127.0.0.1', port: 0 });
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;

const folder = await mkdtemp(join(tmpdir(), 'convoke-exported-'));
const servers: Server[] = [];
const open = async (name: string, settings: Readonly<Record<string, string>>) => {
  const place = { folder: join(folder, name), agents: [agent], settings };
  const server = await startServer({ name: 'convoke', ...place });
  servers.push(server);
  return server;
};
try {
  const plain = await open('plain', {});
  const sending = await open('sending', {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  });
  const load = (loadavg()[0] ?? 0).toFixed(1);
  console.log(`load average ${load} before the start; least processor time, ${rounds} rounds:`);
  for (const clients of [1, 16]) {
    const least = { plain: Number.POSITIVE_INFINITY, sending: Number.POSITIVE_INFINITY };
    for (let round = -warmUps; round < rounds; round += 1) {
      const [without, within] = [await runUs(plain, clients), await runUs(sending, clients)];
      if (round < 0) continue;
      least.plain = Math.min(least.plain, without);
      least.sending = Math.min(least.sending, within);
    }
    const ratio = (least.sending / least.plain).toFixed(3);
    console.log(`a run of 50 words, ${clients} clients, exported over not   ${ratio}x`);
    console.log(`  ${least.sending.toFixed(0)} µs over ${least.plain.toFixed(0)} µs`);
  }
} finally {
  for (const server of servers) await server.stop();
  receiver.closeAllConnections();
  receiver.close();
  await removeFolder(folder);
}

/** Of one run, from those of many. */
async function runUs(server: Server, clients: number): Promise<number> {
  const client = new Client(await server.address(), clients);
  const sessions = await openSessions(client, agent, clients);
  await warmUp(client, sessions);
  const most = runsPerRound / clients;
  const before = await server.usage('usage');
  await sideBySide({ clients, ms: Number.POSITIVE_INFINITY, most }, async (index) => {
    const run = await startRun(client, sessions[index] ?? '');
    requireWhole(await followRun(client, run, { strict: true }), agent);
  });
  const after = await server.usage('usage');
  client.close();
  return (after.cpuUs - before.cpuUs) / (clients * most);
}
