import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { writeFiles } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import type { Said } from '../sittings.ts';
import { AiSdkPlace } from './agent.ts';

const place = await AiSdkPlace.open();
beforeAll(() => requireSandbox());
afterAll(() => place.close());

/** The result of one call, as the model gets it. */
async function use(tool: string, input: unknown, settings = {}): Promise<string> {
  const session = await place.session(place.agent({ settings }));
  return resultOf(await session.play(`call ${tool} ${JSON.stringify(input)} ;; say done`));
}

function resultOf(said: Said): string {
  return JSON.stringify(said.custom('tool_result')[0]);
}

test('files are read by lines, listed and written, all inside the session folder', async () => {
  const session = await place.session(place.agent());
  await writeFiles(session.sessionFolder, { 'a/b.txt': 'one\ntwo\nthree\nfour', 'c.txt': 'c' });
  const read = await session.play(
    'call read_file {"path":"a/b.txt","first_line":2,"lines":2} ;; last',
  );
  expect(read.text).toContain('two\nthree\n(1 more lines, from line 4 on)');
  expect((await session.play('call list_files {} ;; last')).text).toContain('a/\nc.txt');
  const all = await session.play('call list_files {"recursive":true} ;; last');
  expect(all.text).toContain('a/\nc.txt\na/b.txt');
  const written = await session.play('call write_file {"path":"x/y.txt","text":"é"} ;; last');
  expect(written.text).toContain('Wrote 2 bytes to x/y.txt.');
});

test('neither a path nor a link lets a tool leave the session folder', async () => {
  const session = await place.session(place.agent());
  await symlink('/etc', join(session.sessionFolder, 'etc'));
  await symlink('/etc/passwd', join(session.sessionFolder, 'passwd'));
  for (const call of [
    'read_file {"path":"../../convoke.db"}',
    'read_file {"path":"/etc/passwd"}',
    'read_file {"path":"passwd"}',
    'read_file {"path":"etc/passwd"}',
    'list_files {"path":"etc"}',
    'list_files {"path":"../"}',
    'write_file {"path":"etc/x","text":""}',
    'write_file {"path":"../x","text":""}',
  ]) {
    expect(resultOf(await session.play(`call ${call} ;; say done`))).toContain('"ok":false');
  }
});

test('a binary or missing file is reported', async () => {
  const session = await place.session(place.agent());
  await writeFile(join(session.sessionFolder, 'data.bin'), Buffer.from([1, 0, 2]));
  expect(resultOf(await session.play('call read_file {"path":"data.bin"} ;; say x'))).toContain(
    'not a text file (3 bytes of binary data)',
  );
  expect(await use('read_file', { path: 'nothing' })).toContain('the file does not exist');
});

test('a long output is cut for the model, and shorter in the event', async () => {
  const session = await place.session(place.agent());
  await writeFiles(session.sessionFolder, { 'long.txt': 'x'.repeat(200_000) });
  const said = await session.play('call read_file {"path":"long.txt"} ;; last');
  expect(said.text.length).toBeGreaterThan(64 * 1024);
  expect(said.text).toContain('(cut here: 200000 bytes in all)');
  expect(resultOf(said).length).toBeLessThan(20_000);
});

test('commands run in the session folder, as user nobody, without the server’s environment or network', async () => {
  vi.stubEnv('MODEL_KEY', 'model-canary-1234567');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const env = { API_KEY: '${env:MODEL_KEY}', BASE_URL: `${place.modelServer.url}/v1` };
  const session = await place.session(place.agent({ settings: { env } }));
  await writeFiles(session.sessionFolder, { 'a.txt': 'hello' });
  const command = 'pwd; cat a.txt; echo; env; id -u; ls /root 2>&1; cat /proc/1/environ';
  const input = JSON.stringify({ command });
  const { text, events } = await session.play(`call run_command ${input} ;; last`);
  expect(text).toContain('/workspace\nhello');
  expect(text).toMatch(/\/root/);
  expect(JSON.stringify([events, session.state])).not.toContain('canary');
  const { url } = place.modelServer;
  const reach = `node -e "fetch('${url}/log').then(() => console.log('reached'), () => console.log('no way'))"`;
  expect(await use('run_command', { command: reach })).toContain('no way');
});

test('a command that fails or takes too long is reported', async () => {
  expect(await use('run_command', { command: 'echo bad >&2; exit 3' })).toContain(
    'bad\\n(exit code 3)',
  );
  expect(await use('run_command', { command: 'sleep 60', timeout_seconds: 1 })).toContain(
    'ended after 1 s',
  );
});

test('of a very long output the beginning and the end are kept', async () => {
  const session = await place.session(place.agent());
  const command = "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo last";
  const { text } = await session.play(`call run_command ${JSON.stringify({ command })} ;; last`);
  expect(text).toMatch(/first[^]*bytes left out[^]*last/);
  expect(text.length).toBeLessThan(70_000);
});

test('a cancel ends the running command', async () => {
  const { sandbox, started } = place.watchedSandbox();
  const session = await place.session(place.agent(), { sandbox });
  const leg = session.start('@@ call run_command {"command":"sleep 600 & sleep 600"} ;; last');
  const heard = session.hear(leg);
  await eventually(() => started.length === 1);
  await session.cancel(leg);
  expect((await heard).end).toMatchObject({ outcome: 'cancelled' });
  expect(started).toEqual([{ hasExited: true }]);
});

test('fetch_url is not offered to an agent that may reach no host', async () => {
  await (await place.session(place.agent())).play('say no-host-to-reach');
  expect(place.modelServer.log.having('no-host-to-reach')[0]?.tools).not.toContain('fetch_url');
});

test('fetch_url reads from listed hosts only and follows no redirect', async () => {
  const web = await startWeb();
  const sandbox = { network: [`127.0.0.1:${web.port}`, 'localtest.example'] };
  const page = await use('fetch_url', { url: `${web.url}/page` }, { sandbox });
  expect(page).toContain('Hello\\nworld & all');
  expect(page).not.toContain('script');
  expect(await use('fetch_url', { url: `${web.url}/moved` }, { sandbox })).toContain(
    'it has moved to http://169.254.169.254/latest',
  );
  for (const url of [
    `http://localhost:${web.port}/page`,
    `http://user:word@127.0.0.1:${web.port}/page`,
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://2130706433/',
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
  ]) {
    expect(await use('fetch_url', { url }, { sandbox })).toContain('"ok":false');
  }
  expect(web.requests).toEqual(['/page', '/moved']);
});

test('fetch_url refuses a listed name that resolves to this machine', async () => {
  const web = await startWeb();
  const sandbox = { network: [`a.localhost:${web.port}`, `ip6-localhost:${web.port}`] };
  for (const host of ['a.localhost', 'ip6-localhost']) {
    const url = `http://${host}:${web.port}/page`;
    expect(await use('fetch_url', { url }, { sandbox })).toContain('"ok":false');
  }
  expect(web.requests).toEqual([]);
});

async function startWeb(): Promise<{ url: string; port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url === '/moved') {
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<html><script>script()</script><p>Hello</p>world &amp; all</html>');
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, requests };
}
