/**
 * `node bench/typed-starts.ts [rounds]`: what an input schema adds to a start over HTTP, and what inputs of almost one
 * MiB cost that fit, or do not. Processor time of one server on SQLite; each request in turn with the others.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../test/remove-folder.ts';
import { Client } from './client.ts';
import { startServer } from './server.ts';
import { median } from './statistics.ts';
import { sideBySide } from './workload.ts';

const rounds = Number(process.argv[2] ?? 15);
const connections = 16;

const ticket = { type: 'integer', minimum: 1 };
/** Every run of a session waits for the first one, which sleeps: what is measured is the start. */
const script = [{ sleep_ms: 3_600_000 }];
const agents = {
  untyped: { script },
  typed: {
    script,
    input_schema: {
      type: 'object',
      properties: {
        prompt: { type: 'string' },
        ticket,
        team: { enum: ['billing', 'tech'] },
        tags: { type: 'array', items: { type: 'string', maxLength: 40 } },
      },
      required: ['ticket'],
    },
  },
  // The whole of a large input is looked at.
  reading: {
    script,
    input_schema: {
      type: 'object',
      properties: { words: { type: 'array', items: { type: 'string', maxLength: 20 } } },
      required: ['words'],
    },
  },
};

const small = { prompt: 'go', ticket: 7, team: 'tech', tags: ['a', 'b'] };
/** A body has at most 50,000 values and one MiB. */
const words = (length: number) => Array.from({ length: 43_000 }, () => 'x'.repeat(length));
const fitting = words(20);
const cases = [
  {
    name: 'a start without a schema',
    agent: 'untyped',
    input: { prompt: JSON.stringify(small) },
    answer: 201,
  },
  { name: 'a start with a schema', agent: 'typed', input: small, answer: 201 },
  { name: '1 MB that fits', agent: 'reading', input: { words: fitting }, answer: 201 },
  {
    name: '1 MB, wrong at its end',
    agent: 'reading',
    input: { words: [...fitting, 'x'.repeat(21)] },
    answer: 400,
  },
  { name: '1 MB, wrong everywhere', agent: 'reading', input: { words: words(21) }, answer: 400 },
] as const;

const folder = await mkdtemp(join(tmpdir(), 'convoke-typed-starts-'));
for (const [name, agent] of Object.entries(agents)) {
  await mkdir(join(folder, 'agents', name), { recursive: true });
  const text = JSON.stringify({ ...agent, name, framework: 'scripted' });
  await writeFile(join(folder, 'agents', name, 'agent.yaml'), text);
}
// Almost no run is executed.
const settings = { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_SESSION_QUEUE_MAX: '10000' };
const server = await startServer({ name: 'convoke', folder, agents: [], settings });
const spent = cases.map((): number[] => []);
try {
  const load = (loadavg()[0] ?? 0).toFixed(1);
  for (let round = -5; round < rounds; round += 1) {
    for (const [at, one] of cases.entries()) {
      const cpuUs = await measure(one);
      if (round >= 0) spent[at]?.push(cpuUs);
    }
  }
  const least = spent.map((all) => Math.min(...all));
  const [plain = 0, typed = 0, right = 0, late = 0, wrong = 0] = least;
  console.log(`load average ${load} before the start; processor time, ${rounds} rounds:`);
  console.log('least µs | median µs | request');
  for (const [at, { name }] of cases.entries()) {
    console.log(`${least[at]?.toFixed(0)} | ${median(spent[at] ?? []).toFixed(0)} | ${name}`);
  }
  console.log(`a start, with a schema over without     ${(typed / plain).toFixed(3)}x`);
  console.log(`1 MB, wrong at its end over right       ${(late / right).toFixed(3)}x`);
  console.log(`1 MB, wrong everywhere over right       ${(wrong / right).toFixed(3)}x`);
} finally {
  await server.stop();
  await removeFolder(folder);
}

/** Of one request, from those of many. */
async function measure({ agent, input, answer }: (typeof cases)[number]): Promise<number> {
  const isLarge = agent === 'reading';
  const times = isLarge ? 1 : 40;
  const client = new Client(await server.address(), connections);
  const sessions = await Promise.all(
    Array.from({ length: connections }, async () => {
      const { body } = await client.post('/v1/sessions', { agent_name: agent });
      return String(body['id']);
    }),
  );
  const start = async (session: string) => {
    const body = { input, idempotency_key: randomUUID() };
    const { status, body: said } = await client.post(`/v1/sessions/${session}/runs`, body);
    if (status !== answer || 'issues' in said !== (answer === 400)) {
      throw new Error(`a start: ${status} ${JSON.stringify(said).slice(0, 400)}`);
    }
  };
  if (!isLarge) await Promise.all(sessions.map(start));
  const before = await server.usage('usage');
  const bounds = { clients: connections, ms: Number.POSITIVE_INFINITY, most: times };
  await sideBySide(bounds, (connection) => start(sessions[connection] ?? ''));
  const after = await server.usage('usage');
  client.close();
  return (after.cpuUs - before.cpuUs) / (connections * times);
}
