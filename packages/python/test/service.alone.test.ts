import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { Convoke, type RunEvent } from '../../sdk/src/index.ts';
import { type ConvokeServer, clientOf, startConvoke } from '../../sdk/test/convoke-server.ts';
import { chance, startCuttingProxy } from '../../sdk/test/cutting-proxy.ts';
import { blocking } from '../scripts/blocking.ts';
import { type Mode, modes, programPath, python, startPython } from './python.ts';

let server: ConvokeServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-python-'));
  server = await startConvoke({
    CONVOKE_STREAM_MAX_AGE_SECONDS: '1',
    CONVOKE_WEBHOOK_ALLOW: '127.0.0.0/8',
    CONVOKE_CORS_ORIGINS: 'https://product.test',
    CONVOKE_CONNECTION_ALLOW: '127.0.0.0/8',
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await removeFolder(folder);
});

describe.each(modes)('the %s client', (mode) => {
  test('has every part of the service (D-224)', async () => {
    const program = await programFor('surface.py', mode);
    expect(await python([program], environment())).toBe('done\n');
  });

  test('gets each event once and starts one run when connections break at any byte', async () => {
    const random = chance(mode === 'asyncio' ? 5 : 6);
    const nextCut = () => (random() < 0.8 ? 1 + Math.floor(random() * 4000) : undefined);
    await using proxy = await startCuttingProxy(server.baseUrl, nextCut);
    const agent = { AGENT: 'talker', PROMPT: 'bye', BASE_URL: proxy.baseUrl };
    const program = await programFor('survivor.py', mode);
    const { ids, events, run } = told(await python([program], { ...environment(), ...agent }));
    expect(events).toEqual(await recorded(ids));
    expect(run.output_text).toBe(`${'Grüße 👋🏽 '.repeat(40)}bye`);
    expect(proxy.cuts).toBeGreaterThan(0);
    const { items } = await direct().sessions.at(ids[0]).runs.list().page();
    expect(items).toHaveLength(1);
  });

  test('gets each event once when the server is killed in the middle of a sentence', async () => {
    const program = startPython([await programFor('survivor.py', mode)], {
      ...environment(),
      AGENT: 'reciter',
      PROMPT: 'go',
    });
    onTestFinished(() => void program.kill('SIGKILL'));
    const lines: string[] = [];
    let isKilled = false;
    for await (const line of createInterface({ input: program.stdout })) {
      lines.push(line);
      if (isKilled || !line.includes('w1')) continue;
      isKilled = true;
      await server.restart();
    }
    if (program.exitCode === null) await once(program, 'exit');
    const { ids, events, run } = told(lines.join('\n'));
    expect(events).toEqual(await recorded(ids));
    expect(run).toMatchObject({ status: 'completed', attempt: 2 });
  });
});

test('the first program of the README works unchanged', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
  const program = join(folder, 'readme.py');
  await writeFile(program, /```python\n(.*?)```/s.exec(readme)?.[1] ?? '');
  const { base_url, client_id, client_secret, tenant_id } = server.quickstart;
  const printed = await python([program], {
    CONVOKE_BASE_URL: base_url,
    CONVOKE_CLIENT_ID: client_id,
    CONVOKE_CLIENT_SECRET: client_secret,
    CONVOKE_CLIENT_TENANT_ID: tenant_id,
  });
  expect(printed).toBe(
    'Hello! You said: Hello!\n\nNice to meet you, Captain. May I write that down?\n\n' +
      'Thank you, Captain. It is in note.txt.\n',
  );
});

/** The program as it is, or made blocking in the same way as the client. */
async function programFor(name: string, mode: Mode): Promise<string> {
  if (mode === 'asyncio') return programPath(name);
  const text = await readFile(programPath(name), 'utf8');
  const path = join(folder, name);
  await writeFile(path, blocking(text.replace('asyncio.run(main())', 'main()'), name));
  return path;
}

function environment(): Record<string, string> {
  const { client_id, client_secret, organization_id, tenant_id, owner_token } = server.quickstart;
  return {
    BASE_URL: server.baseUrl,
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    ORGANIZATION_ID: organization_id,
    TENANT_ID: tenant_id,
    OWNER_TOKEN: owner_token,
  };
}

interface ProgramReply {
  readonly ids: readonly [session: string, run: string];
  readonly events: readonly RunEvent[];
  readonly run: { readonly output_text?: string };
}

function told(printed: string): ProgramReply {
  const lines = printed.trim().split('\n');
  const [ids, ...rest] = lines.map((line): unknown => JSON.parse(line));
  return {
    ids: ids as ProgramReply['ids'],
    events: rest.slice(0, -1) as RunEvent[],
    run: rest.at(-1) as ProgramReply['run'],
  };
}

async function recorded([session, run]: ProgramReply['ids']): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of direct().sessions.at(session).runs.at(run).events({ limit: 100 })) {
    events.push(event);
  }
  return events;
}

function direct(): Convoke {
  return new Convoke(clientOf(server));
}
