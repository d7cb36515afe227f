import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { type Convoke, compose } from '../../src/compose/compose.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Quickstart } from '../../src/quickstart.ts';
import { checkAnswer, operationAt } from './checked-calls.ts';

export interface TestServer {
  readonly convoke: Convoke;
  readonly url: string;
  readonly dataDir: string;
  readonly quickstart: Quickstart;
  /** Every line that went to the log. */
  readonly logged: string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects
  readonly body: any;
}

/** The whole server on a real socket and a fresh data folder. */
export async function startTestServer(
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'convoke-server-'));
  const config = readConfig({ CONVOKE_DATA_DIR: dataDir, CONVOKE_PORT: '0', ...environment });
  const logged: string[] = [];
  const convoke = await compose(config, { log: keeping(logged) });
  const url = await convoke.app.listen({ host: '127.0.0.1', port: 0 });
  const quickstart = await convoke.quickstart();
  await convoke.start();
  return {
    convoke,
    url,
    dataDir,
    quickstart,
    logged,
    call: (method, path, options = {}) => call(url, { method, path }, options),
    async stop() {
      await convoke.stop(1_000);
      removeFolderSync(dataDir);
    },
  };
}

async function call(
  url: string,
  { method, path }: { method: string; path: string },
  options: CallOptions,
): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;
  const init: RequestInit = { method, headers };
  if (options.body !== undefined) {
    const isText = typeof options.body === 'string';
    headers['content-type'] ??= 'application/json';
    init.body = isText ? String(options.body) : JSON.stringify(options.body);
  }
  const response = await fetch(url + path, init);
  const { status, headers: answered } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = Buffer.from(bytes).toString();
  checkAnswer(operationAt(method, path), { status, headers: answered, bytes, text });
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { status, headers: answered, body };
}

function keeping(lines: string[]): Log {
  const keep = (...parts: unknown[]) => {
    lines.push(
      parts.map((part) => (part instanceof Error ? part.stack : JSON.stringify(part))).join(' '),
    );
  };
  return { info: keep, warn: keep, error: keep };
}
