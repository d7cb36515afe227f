import { once } from 'node:events';
import { mkdir, mkdtemp, utimes, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** A build of the console: an index page, a script with a digest in its name, and an icon. */
const script = 'assets/main-a1b2c3d4.js';
const contents: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><head><title>Convoke</title>',
  [script]: `console.log(1);${' '.repeat(500)}`,
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
};

async function build(folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await mkdir(join(folder, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries({ ...contents, ...more })) {
    await writeFile(join(folder, name), text);
    await writeFile(join(folder, `${name}.gz`), gzipSync(text));
    await writeFile(join(folder, `${name}.br`), brotliCompressSync(text));
  }
}

describe('the console', () => {
  let folder: string;
  let server: TestServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'convoke-console-'));
    await build(folder);
    server = await startServer({ consoleFolder: folder });
  });
  afterAll(() => removeFolder(folder));

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(server.baseUrl + path, { headers, redirect: 'manual' });

  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; " +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'";

  test.each(['/console/', '/console/t/ten_1/runs', '/console/callback?code=x'])(
    '%s is the page, which no cache keeps and nothing else may enter (console §3)',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(contents['index.html']);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policy,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      });
    },
  );

  test('a file with a digest in its name is kept for ever; another one is asked for again', async () => {
    const asset = await get(`/console/${script}`);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await asset.text()).toBe(contents[script]);
    const icon = await get('/console/icon.svg');
    expect(icon.headers.get('cache-control')).toBe('no-cache');
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
  });

  test.each([
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('Accept-Encoding: %s is answered as %s', async (accept, encoding) => {
    const answer = await get(`/console/${script}`, { 'accept-encoding': accept });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    expect(await answer.text()).toBe(contents[script]);
  });

  test('a script of an earlier build is not found: the page would not be that script', async () => {
    const answer = await get('/console/assets/main-gone.js');
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({ error: 'not_found' }),
    ]);
  });

  test('no path leads out of the build', async () => {
    for (const path of [
      '/console/../package.json',
      '/console/..%2f..%2fpackage.json',
      '/console//etc/passwd',
      '/console/assets/../../index.html',
    ]) {
      const { text } = await sendRaw(server, { method: 'GET', path });
      expect(text).not.toContain('"name"');
      expect(text).not.toContain('root:');
    }
  });

  test('a browser at / and at /console is sent there; a program at / gets links', async () => {
    const root = await get('/', { accept: 'text/html,*/*' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/console/']);
    const short = await get('/console');
    expect([short.status, short.headers.get('location')]).toEqual([302, '/console/']);
    const links = await fetch(`${server.baseUrl}/`);
    expect([links.status, links.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    const { baseUrl } = server;
    expect(await links.json()).toEqual({
      console: `${baseUrl}/console/`,
      docs: `${baseUrl}/docs`,
      openapi: `${baseUrl}/openapi.json`,
    });
  });

  test('another name of this machine leads to the address that tokens name', async () => {
    const { host, port } = server.config;
    const ask = async (name: string) => {
      const sent = request({ host, port, path: '/console/t/x?y', headers: { host: name } }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer;
    };
    const answer = await ask(`localhost:${port}`);
    expect(answer.statusCode).toBe(302);
    expect(answer.headers.location).toBe(`${server.baseUrl}/console/t/x?y`);
    for (const name of [`127.0.0.1:${port}`, 'convoke.example', 'localhost.evil.example']) {
      expect((await ask(name)).statusCode).toBe(200);
    }
  });

  test('a new build is served without a restart', async () => {
    const page = '<!doctype html><title>Next</title>';
    await build(folder, { 'index.html': page });
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, 'index.html'), later, later);
    expect(await (await get('/console/')).text()).toBe(page);
  });
});

test('without a build one page says what to do, and the API works', async () => {
  const server = await startServer({ consoleFolder: join(tmpdir(), 'convoke-console-never') });
  const answer = await fetch(`${server.baseUrl}/console/t/x`);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('npm run build -w @convoke/console');
  expect((await server.send('whoami')).status).toBe(200);
});

test('CONVOKE_CONSOLE=off removes the pages', async () => {
  const server = await startServer({ env: { CONVOKE_CONSOLE: 'off' } });
  for (const path of ['/', '/console', '/console/', '/console/assets/x.js']) {
    const answer = await fetch(server.baseUrl + path, { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(404);
  }
});

test('with another issuer the page names it, and may reach its origin, also in a frame', async () => {
  const env = {
    CONVOKE_OIDC_CONSOLE_CLIENT_ID: 'a"b<c',
    CONVOKE_OIDC_ISSUER: 'https://login.acme.example/realms/staff',
    CONVOKE_OIDC_AUDIENCE: 'convoke',
  };
  const folder = await mkdtemp(join(tmpdir(), 'convoke-console-'));
  await build(folder);
  const server = await startServer({ env, consoleFolder: folder });
  const answer = await fetch(`${server.baseUrl}/console/t/x`);
  const policy = answer.headers.get('content-security-policy');
  expect(policy).toContain("connect-src 'self' https://login.acme.example;");
  // A hidden frame renews the sign-in there, and ends at the callback: no other page may be framed (D-261).
  expect(policy).toContain("frame-src 'self' https://login.acme.example;");
  expect(policy).toContain("frame-ancestors 'none'");
  const callback = await fetch(`${server.baseUrl}/console/callback?code=c`);
  expect(callback.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  expect(await answer.text()).toContain(
    '<meta name="convoke-issuer" content="https://login.acme.example/realms/staff" data-client-id="a&quot;b&lt;c">',
  );
  await removeFolder(folder);
});
