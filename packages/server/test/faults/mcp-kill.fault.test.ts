// Two servers behind one address: the one that holds a call of an assistant is killed after each message of its stream
// (D-616).
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../../test/free-port.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { type Filled, type ShownForm, mcpClients } from '../http/faces/mcp-clients.ts';
import { createDatabase } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { type ServerFolder, createServerFolder, readQuickstart } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const minute = 60_000;
vi.setConfig({ testTimeout: 10 * minute, hookTimeout: 10 * minute });

const agents = {
  both: {
    approval_required_tools: ['write_*'],
    script: [
      { ask: { question: 'Which colour?', options: ['red', 'blue'] } },
      { tool: { name: 'write_file', input: { path: 'note.txt', text: '{{answer}}' } } },
      { say: 'It is {{answer}}.' },
    ],
  },
};
/** More than a call has. */
const messagesMax = 20;
/** Messages of the stream: the place to resume at, two forms and the result. */
const messagesOfCall = 4;

/** Both servers; clients reach the one that is alive. */
class Pair {
  readonly #folders: readonly ServerFolder[];
  #servers: ServerProcess[];
  #current = 0;

  constructor(folders: readonly ServerFolder[], servers: ServerProcess[]) {
    this.#folders = folders;
    this.#servers = servers;
  }

  get baseUrl(): string {
    return this.#servers[this.#current]?.baseUrl ?? '';
  }

  /** Requests go to the other server from now on. */
  async killCurrent(): Promise<void> {
    const killed = this.#servers[this.#current];
    this.#current = 1 - this.#current;
    await killed?.kill();
  }

  async bothAlive(): Promise<void> {
    for (const [index, folder] of this.#folders.entries()) {
      if (this.#servers[index]?.isRunning === true) continue;
      this.#servers[index] = await ServerProcess.start(folder, { command: 'serve' });
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.kill();
  }
}

let pair: Pair;
let caller: Caller;
let mcpPath: string;
beforeAll(async () => {
  const database = await createDatabase();
  atFileEnd(() => database.drop());
  const settings = {
    CONVOKE_BASE_URL: 'http://convoke.test',
    CONVOKE_DATABASE_URL: database.url,
    CONVOKE_LEASE_SECONDS: '5',
  };
  const first = await createServerFolder({ agents, settings });
  atFileEnd(() => first.remove());
  const root = dirname(first.agentsDir);
  const keyFile = join(root, 'shared.key');
  writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  const folderOf = (name: string, port: number): ServerFolder => ({
    ...first,
    dataDir: join(root, name),
    port,
    settings: { ...first.settings, CONVOKE_MASTER_KEY_FILE: keyFile },
  });
  const folders = [folderOf('a', first.port), folderOf('b', await freePort())] as const;
  const servers = [await ServerProcess.start(folders[0])];
  servers.push(await ServerProcess.start(folders[1], { command: 'serve' }));
  pair = new Pair(folders, servers);
  atFileEnd(() => pair.close());
  caller = await Caller.open(folders[0], { baseUrl: () => pair.baseUrl });
  const { organization_id, tenant_id } = readQuickstart(folders[0]);
  mcpPath = `/v1/mcp/${organization_id}/${tenant_id}`;
});

/** Sends to the server that is alive, and kills the one that streams after so many messages, once. */
function killingAfter(messages: number) {
  let killing: Promise<void> | undefined;
  const send: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const response = await fetch(`${pair.baseUrl}${pathname}${search}`, init);
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    if (!isStream || response.body === null || killing !== undefined) return response;
    let seen = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        controller.enqueue(chunk);
        seen += new TextDecoder().decode(chunk).split('\n\n').length - 1;
        if (seen < messages || killing !== undefined) return;
        killing = pair.killCurrent();
        await killing;
        controller.error(new Error('the server is gone'));
      },
    });
    return new Response(response.body.pipeThrough(counted), response);
  };
  return { send, hasKilled: () => killing !== undefined, killed: () => killing };
}

const older = Object.entries(mcpClients).filter(([name]) => !name.includes('2026'));

test.each(older)(
  'one run and one answer to each request, whatever is killed (%s)',
  async (_, connectTo) => {
    let kills = 0;
    for (let messages = 1; messages <= messagesMax; messages += 1) {
      await pair.bothAlive();
      const killing = killingAfter(messages);
      const shown: string[] = [];
      const assistant = await connectTo({
        url: `${pair.baseUrl}${mcpPath}?wait=600`,
        headers: { authorization: caller.headers['authorization'] ?? '' },
        fetch: killing.send,
        fill: (form: ShownForm): Filled => {
          shown.push(form.message);
          const isPermission = 'decision' in form.requestedSchema.properties;
          return {
            action: 'accept',
            content: isPermission ? { decision: 'allow' } : { answer: 'blue' },
          };
        },
      });
      onTestFinished(() => assistant.close());
      const result = await assistant.call('both', { prompt: 'Hello' });
      await assistant.close();
      if (!killing.hasKilled()) break;
      kills += 1;
      await killing.killed();
      const at = `killed after ${messages} messages`;
      expect([at, result.structuredContent]).toMatchObject([
        at,
        { status: 'completed', text: 'It is blue.' },
      ]);
      expect([at, new Set(shown).size]).toEqual([at, 2]);
      const sessionId = result.structuredContent?.['session_id'] ?? '';
      const { body } = await caller.call('GET', `/v1/sessions/${sessionId}/runs`);
      const answered = await caller.interactions(sessionId, 'answered');
      expect([at, (body as { runs: unknown[] }).runs.length, answered.length]).toEqual([at, 1, 2]);
    }
    expect(kills).toBeGreaterThanOrEqual(messagesOfCall - 1);
  },
);
