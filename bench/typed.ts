/**
 * `node bench/typed.ts`: what schemas of an agent cost a run, and what it costs that runs are exported. Two servers,
 * each in a process of its own, on SQLite, without HTTP: one of them sends traces and metrics to this process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { organizationId, tenantId } from '@convoke/contract';
import { startRun } from '../packages/server/src/app/runs/start-run.ts';
import { createSession } from '../packages/server/src/app/sessions.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import { isEnded } from '../packages/server/src/domain/run/run.ts';
import { word } from './agents.ts';

const rounds = Number(process.argv[2] ?? 25);
const runsPerRound = 300;
/** Rounds until V8 has compiled what a run needs. */
const warmUps = 20;

const object = { type: 'object', additionalProperties: false };
const ticket = { type: 'integer', minimum: 1 };
const script = [{ say: '{{prompt}}' }];
const agents = {
  untyped: { script },
  typed: {
    input_schema: {
      ...object,
      properties: { prompt: { type: 'string' }, ticket },
      required: ['ticket'],
    },
    output_schema: {
      ...object,
      properties: { team: { enum: ['billing', 'tech'] }, ticket },
      required: ['team'],
    },
    script: [...script, { output: { team: 'tech', ticket: 7 } }],
  },
  talker: { script: [{ say: word.repeat(50) }] },
};

interface Work {
  readonly agent: keyof typeof agents;
  readonly runs: number;
}

if (process.send === undefined) await compare();
else await serve();

async function compare(): Promise<void> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  receiver.listen({ host: '127.0.0.1', port: 0 });
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const plain = await openChild({});
  const sending = await openChild({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const one = (child: ChildProcess, agent: Work['agent']) => ({ child, agent });
  const typed = await ratioOf(one(plain, 'typed'), one(plain, 'untyped'));
  const runs = await ratioOf(one(sending, 'untyped'), one(plain, 'untyped'));
  const words = await ratioOf(one(sending, 'talker'), one(plain, 'talker'));
  process.stdout.write(
    [
      `load average ${load} before the start; least time of the processor, of ${rounds} turns:`,
      `  runs from start to end, with schemas and an output over without   ${typed.toFixed(3)}x`,
      `  runs from start to end, exported over not exported                ${runs.toFixed(3)}x`,
      `  runs of 50 words, exported over not exported                      ${words.toFixed(3)}x`,
      '',
    ].join('\n'),
  );
  for (const child of [plain, sending]) child.kill();
  receiver.closeAllConnections();
  receiver.close();
}

interface Turn {
  readonly child: ChildProcess;
  readonly agent: Work['agent'];
}

/** The processor's least time with something over that without it, in turns: other load can only add to it. */
async function ratioOf(within: Turn, without: Turn): Promise<number> {
  const least = { within: Number.POSITIVE_INFINITY, without: Number.POSITIVE_INFINITY };
  for (let round = -warmUps; round < rounds; round += 1) {
    const base = await processorMsIn(without);
    const more = await processorMsIn(within);
    if (round < 0) continue;
    least.without = Math.min(least.without, base);
    least.within = Math.min(least.within, more);
  }
  return least.within / least.without;
}

async function processorMsIn({ child, agent }: Turn): Promise<number> {
  child.send({ agent, runs: runsPerRound } satisfies Work);
  const [ms] = (await once(child, 'message')) as [number];
  return ms;
}

async function openChild(settings: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.url), [], { env: { ...process.env, ...settings } });
  await once(child, 'message');
  return child;
}

/** The server of one process, which performs what it is sent. */
async function serve(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-typed-'));
  for (const [name, agent] of Object.entries(agents)) {
    await mkdir(join(folder, 'agents', name), { recursive: true });
    const text = JSON.stringify({ ...agent, name, framework: 'scripted' });
    await writeFile(join(folder, 'agents', name, 'agent.yaml'), text);
  }
  const convoke = await compose(
    readConfig({
      CONVOKE_PORT: '1',
      CONVOKE_DATA_DIR: join(folder, 'data'),
      CONVOKE_AGENTS_DIR: join(folder, 'agents'),
      CONVOKE_TENANT_RUN_CONCURRENCY: '256',
      CONVOKE_LOG_LEVEL: 'silent',
      OTEL_EXPORTER_OTLP_ENDPOINT: process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '',
    }),
  );
  if (convoke.agentProblems.length > 0) throw new Error(JSON.stringify(convoke.agentProblems));
  const quick = await convoke.quickstart();
  await convoke.start();
  const scope = {
    organizationId: organizationId(quick.organization_id),
    tenantId: tenantId(quick.tenant_id),
  };
  const { services } = convoke;
  const chargeRate = () => {};

  const runToEnd = async (agentName: Work['agent']) => {
    const input = agentName === 'typed' ? { prompt: 'go', ticket: 7 } : { prompt: 'go' };
    const request = { agentName, idempotencyKey: undefined, chargeRate };
    const { id: sessionId } = (await createSession(services, scope, request)).resource;
    const start = { input, clientId: null, idempotencyKey: undefined, chargeRate, sessionId };
    const { id } = (await startRun(services, scope, start)).resource;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = async () => {
      const run = await services.store.read.runs.findById(scope, id);
      if (run !== undefined && isEnded(run)) resolve();
    };
    const unsubscribe = services.fanout.subscribe(`run:${id}`, () => void check());
    await check();
    await promise;
    unsubscribe();
  };

  const perform = async ({ agent, runs }: Work) => {
    const from = process.cpuUsage();
    await Promise.all(Array.from({ length: runs }, () => runToEnd(agent)));
    const { user, system } = process.cpuUsage(from);
    process.send?.((user + system) / 1000);
  };
  process.on('message', (work: Work) => void perform(work));
  process.once('SIGTERM', () => {
    void convoke.stop(0).then(async () => {
      await rm(folder, { recursive: true, force: true });
      process.disconnect();
    });
  });
  process.send?.('ready');
}
