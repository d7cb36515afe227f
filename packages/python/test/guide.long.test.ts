import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf } from '../../../test/documented-commands.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { textOf } from '../../../test/repository.ts';
import { type ConvokeServer, startConvoke } from '../../sdk/test/convoke-server.ts';
import { buildWheel } from '../scripts/build-wheel.ts';

const guide = textOf('docs/guides/use-python.md');
const programs = Array.from(
  guide.matchAll(/^```python run\n(.*?)^```/gms),
  ([, program = '']) => program,
);

let folder: string;
let server: ConvokeServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-python-guide-'));
  const packs = join(folder, 'convoke/.cache/packs');
  await mkdir(packs, { recursive: true });
  await buildWheel(packs);
  server = await startConvoke();
  await mkdir(join(folder, 'convoke/.convoke'));
  const known = join(folder, 'convoke/.convoke/quickstart.json');
  await writeFile(known, JSON.stringify(server.quickstart));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await removeFolder(folder);
});

/** A virtual environment and six programs, while other work has the processor. */
const runLimitMs = 400_000;

test('the commands and programs of the guide work one after the other', {
  timeout: runLimitMs,
}, async () => {
  const scripts = commandsOf('', guide).filter(({ kind }) => kind === 'script');
  const [build = '', install = '', hello = ''] = scripts.map(({ text }) => text);
  expect(build).toBe('npm run build\n');
  await bash(withoutPip(install), 'convoke');
  const [first = '', waiting = '', following = '', asynchronous = '', receiving = ''] = programs;
  await write('hello.py', first);
  expect(await bash(hello)).toContain('Thank you, Captain.');
  await write('wait.py', `${prelude}${waiting}`);
  expect(await bash('.venv/bin/python wait.py')).toContain('Hello');
  await write('follow.py', `${prelude}${following}`);
  expect(await bash('.venv/bin/python follow.py')).toBe('run_completed\n');
  await write('asynchronous.py', `${prelude}${asynchronous}`);
  expect(await bash('.venv/bin/python asynchronous.py')).toContain('Thank you, Captain.');
  await write('receive.py', `${prelude}${receiving}${delivery}`);
  expect(await bash('.venv/bin/python receive.py')).toBe('msg_1 run_completed\n204\n400\n');
});

/** Some systems ship Python without pip: then the wheel is unpacked to where pip would. */
function withoutPip(script: string): string {
  if (spawnSync('python3', ['-c', 'import ensurepip']).status === 0) return script;
  return script
    .replace('-m venv', '-m venv --without-pip')
    .replace(
      /^\S+pip install --no-index (\S+)$/m,
      'python3 -m zipfile -e $1 .venv/lib/python3*/site-packages',
    );
}

function write(name: string, text: string): Promise<void> {
  return writeFile(join(folder, 'my-python-app', name), text);
}

async function bash(script: string, place = 'my-python-app'): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: folder, PYTHONUTF8: '1' };
  const options = { cwd: join(folder, place), env };
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], options);
  return stdout;
}

/** What the later programs take from the text around them. */
const prelude = `
import asyncio, json
from pathlib import Path
from convoke_sdk import AsyncConvoke, Convoke, WaitTimeoutError, WebhookVerificationError, verify_webhook
from convoke_sdk.types import InteractionRecord
known = json.loads(Path("../convoke/.convoke/quickstart.json").read_text())
credentials = {name: known[name] for name in ("base_url", "client_id", "client_secret", "tenant_id")}
convoke = Convoke(**credentials)
choose = lambda question: "Captain"
secret = "whsec_c2VjcmV0LW9mLWEtd2ViaG9vaw=="
`;

/** Signs a notice as the service does, and delivers it unchanged and changed. */
const delivery = `
import base64, hashlib, hmac, time
body = b'{"id":"1","type":"run_completed","data":{}}'
at = str(int(time.time()))
key = base64.b64decode(secret.removeprefix("whsec_"))
signature = base64.b64encode(hmac.new(key, b"msg_1." + at.encode() + b"." + body, hashlib.sha256).digest()).decode()
headers = {"webhook-id": "msg_1", "webhook-timestamp": at, "webhook-signature": "v1," + signature}
print(receive(body, headers))
print(receive(body.replace(b"completed", b"failed"), headers))
`;
