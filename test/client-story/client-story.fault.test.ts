import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { blocking } from '../../packages/python/scripts/blocking.ts';
import { startPython } from '../../packages/python/test/python.ts';
import { type ConvokeServer, startConvoke } from '../../packages/sdk/test/convoke-server.ts';
import { chance, startCuttingProxy } from '../../packages/sdk/test/cutting-proxy.ts';
import { compileCache } from '../compile-cache.ts';
import { removeFolder } from '../remove-folder.ts';

const here = import.meta.dirname;
const story = join(here, 'story.json');

type Program = ChildProcessByStdio<Writable, Readable, Readable>;
type Start = (env: Readonly<Record<string, string>>) => Promise<Program>;

/** One story, performed by every client that Convoke has (D-226). */
const clients: readonly (readonly [name: string, start: Start])[] = [
  ['TypeScript', startTypeScript],
  ['Python with asyncio', (env) => startPythonStory((program) => program, env)],
  [
    'blocking Python',
    (env) => {
      const made = (program: string) =>
        blocking(program.replace('asyncio.run(main())', 'main()'), 'story.py');
      return startPythonStory(made, env);
    },
  ],
];

describe.each(clients)('the story of the %s client (D-226)', (_name, start) => {
  test('has its expected results over broken connections, refusals, lost tokens and kills', async () => {
    const expected = JSON.parse(await readFile(story, 'utf8')) as Told[];
    await using server = await startConvoke({ CONVOKE_STREAM_MAX_AGE_SECONDS: '1' });
    await using proxy = await startCuttingProxy(server.baseUrl, faults());
    const told = await perform(server, await start(environment(server, proxy.baseUrl)));
    expect(told).toEqual(expected.map(({ step, gives }) => ({ step, gives })));
    expect(proxy.cuts).toBeGreaterThan(20);
  });
});

interface Told {
  readonly step: string;
  readonly gives: unknown;
}

/** Reads what the program prints, and kills the server when it asks for it. */
async function perform(server: ConvokeServer, program: Program): Promise<readonly Told[]> {
  onTestFinished(() => void program.kill('SIGKILL'));
  const complaints = text(program.stderr);
  const ended = once(program, 'exit') as Promise<[number | null]>;
  const told: Told[] = [];
  for await (const line of createInterface({ input: program.stdout })) {
    const said = JSON.parse(line) as Told | { readonly please: 'kill' };
    if ('step' in said) {
      told.push(said);
      continue;
    }
    await server.restart();
    program.stdin.write('it is back\n');
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`after ${told.length} steps: ${await complaints}`);
  return told;
}

/** Most connections break after some bytes, some requests are refused, and every token expires soon. */
function faults(): (request: string) => number | string {
  const random = chance(226);
  const uses = new Map<string, number>();
  let connections = 0;
  return (request) => {
    connections += 1;
    const [, token = ''] = /authorization: Bearer (\S+)/i.exec(request) ?? [];
    const used = (uses.get(token) ?? 0) + 1;
    uses.set(token, used);
    if (token !== '' && used > 10) return expired;
    if (connections % 6 === 0) return unavailable;
    if (connections % 6 === 3) return limited;
    return random() < 0.5 ? 1 + Math.floor(random() * 4000) : 8000;
  };
}

const unavailable = refusal('503 Service Unavailable', 'unavailable');
const limited = refusal('429 Too Many Requests', 'rate_limited');
const expired = refusal('401 Unauthorized', 'invalid_token');

function refusal(status: string, error: string): string {
  const body = JSON.stringify({ error, message: 'The test says so.' });
  return [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'retry-after: 0',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

function environment(server: ConvokeServer, baseUrl: string): Record<string, string> {
  const { client_id, client_secret } = server.quickstart;
  return {
    BASE_URL: baseUrl,
    DIRECT_URL: server.baseUrl,
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    STORY: story,
  };
}

async function startTypeScript(env: Readonly<Record<string, string>>): Promise<Program> {
  return spawn(process.execPath, [join(here, 'story.ts')], {
    env: { PATH: process.env['PATH'], ...compileCache, ...env },
    stdio: 'pipe',
  });
}

async function startPythonStory(
  made: (program: string) => string,
  env: Readonly<Record<string, string>>,
): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-story-'));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, 'story.py');
  await writeFile(path, made(await readFile(join(here, 'story.py'), 'utf8')));
  return startPython([path], env);
}
