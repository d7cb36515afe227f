// D-184: the compiled code of an agent is made when its folder is read, and no session can change it.
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { readAgentFolder } from '../../../src/agents/agent-folder.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { type OpenStdio, playProgram } from '../stdio/leg.ts';
import { openCode } from './open-code.ts';

let code: OpenStdio;
beforeAll(async () => {
  requireSandbox();
  code = await openCode();
});
afterAll(() => code.close());

async function read(source: string, entry = 'agent.ts') {
  const folder = join(await temporaryFolder(), 'tester');
  const files = { 'agent.yaml': 'framework: code\n', 'src/more.py': '', [entry]: source };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(folder, path), text);
  }
  await chmod(folder, 0o755);
  const harnesses = new Map([['code', code.harness]]);
  const result = await readAgentFolder({ folder, name: 'tester', harnesses });
  if (!result.ok) throw new Error(result.reason);
  return result.agent;
}

/** Tries everything that would put code into the cache, and reports what worked. */
const intruder = `import { agent } from '@convoke/agent';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';

export default agent(() => {
  const top = process.env.NODE_COMPILE_CACHE ?? 'none';
  const own = getCompileCacheDir() ?? 'none';
  const [file = 'none'] = readdirSync(own);
  const attempts = {
    write: () => writeFileSync(join(own, file), 'code'),
    add: () => writeFileSync(join(own, 'planted'), 'code'),
    folder: () => mkdirSync(join(top, 'planted')),
    replace: () => renameSync(join(own, file), join(own, 'moved')),
    link: () => symlinkSync('/workspace', join(top, 'planted')),
    mode: () => chmodSync(join(own, file), 0o777),
    remove: () => rmSync(join(own, file)),
    shell: () => execFileSync('sh', ['-c', 'echo code > "$0"/planted', own], { stdio: 'ignore' }),
  };
  const worked = Object.entries(attempts).filter(([, attempt]) => {
    try {
      attempt();
      return true;
    } catch {
      return false;
    }
  });
  return JSON.stringify({ isCached: file !== 'none', worked: worked.map(([name]) => name) });
});
`;

test('a session gets the compiled code of its agent, and cannot write it', async () => {
  const agent = await read(intruder);
  const before = await filesBelow(code.sandbox.folder);
  expect(before.some((path) => path.startsWith('compile-cache/'))).toBe(true);
  const { text } = await playProgram(code, agent);
  expect(JSON.parse(text)).toEqual({ isCached: true, worked: [] });
  expect(await filesBelow(code.sandbox.folder)).toEqual(before);
});

/** The same in Python, which also says whether the kit and a module of its own were compiled before. */
const pythonIntruder = `import json
import os
import subprocess
import sys
from convoke_agent import agent, context
from src import more

cache = sys.pycache_prefix or "none"

@agent
def main(ctx):
    def write(): open(more.__cached__, "w").write("code")
    def add(): open(os.path.join(cache, "planted"), "w").write("code")
    def replace(): os.rename(more.__cached__, cache + "/moved")
    def link(): os.symlink("/workspace", cache + "/link")
    def mode(): os.chmod(more.__cached__, 0o777)
    def remove(): os.remove(more.__cached__)
    def shell(): subprocess.run(["sh", "-c", 'echo code > "$0"/planted', cache], check=True, stderr=-3)
    worked = []
    for attempt in (write, add, replace, link, mode, remove, shell):
        try:
            attempt()
            worked.append(attempt.__name__)
        except (OSError, subprocess.SubprocessError):
            pass
    cached = [each.__cached__.startswith(cache) and os.path.exists(each.__cached__) for each in (more, context)]
    return json.dumps({"cached": cached, "later": sys.pycache_prefix, "worked": worked})
`;

test('so does one in Python, and what it imports later is not looked for there', async () => {
  const agent = await read(pythonIntruder, 'agent.py');
  const before = await filesBelow(code.sandbox.folder);
  const { text, end } = await playProgram(code, agent);
  expect([text, end]).toMatchObject([expect.any(String), { outcome: 'completed' }]);
  expect(JSON.parse(text)).toEqual({ cached: [true, true], later: null, worked: [] });
  expect(await filesBelow(code.sandbox.folder)).toEqual(before);
});

test('a program that is read again and again leaves no more than two caches', async () => {
  const agent = await read(intruder);
  const prepared = { name: agent.name, folder: agent.folder, settings: agent.settings };
  const count = async () => (await readdir(join(code.sandbox.folder, 'compile-cache'))).length;
  await code.harness.prepare?.(prepared);
  const before = await count();
  for (let n = 0; n < 2; n += 1) await code.harness.prepare?.(prepared);
  expect(await count()).toBe(before);
  expect(await readdir(code.sandbox.folder)).not.toContainEqual(expect.stringMatching(/^prepare-/));
});

async function filesBelow(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort((a, b) => a.localeCompare(b));
}
