// A separate program, so that it can run as another user: tries to break out of a sandbox in the ways a hostile
// program might, and prints the outcomes as JSON.
import { readFileSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../../../../test/remove-folder.ts';
import type {
  ProcessExit,
  Sandbox,
  SandboxMode,
  SandboxReport,
  SpawnOptions,
} from '../../src/ports/sandbox.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';
import {
  architectures,
  conditionalCalls,
  newestKnownCall,
  refusedCalls,
} from '../../src/sandbox/system-calls.ts';

export interface Outcome extends ProcessExit {
  readonly output: string;
  readonly errors: string;
  /** Number of processes it started that are alive after its end. */
  readonly survivors: number;
}

export interface Attempts {
  readonly report: SandboxReport;
  readonly looking: Outcome;
  readonly reading: Outcome;
  readonly writing: Outcome;
  readonly inheriting: Outcome;
  readonly systemCalls: Outcome;
  readonly foreignSystemCall: Outcome;
  readonly working: Outcome;
  readonly calling: Outcome;
  readonly callingAllowed: Outcome;
  readonly tunnelling: Outcome;
  readonly forking: Outcome;
  readonly swallowing: Outcome;
  readonly outliving: Outcome;
  readonly dallying: Outcome;
}

/** Seconds that processes left behind sleep: unique on this machine, so that they can be found. */
const nap = `6061.${process.pid}`;
const agentFolder = fileURLToPath(new URL('../../../../agents/demo', import.meta.url));

async function attemptAll(mode: SandboxMode): Promise<Attempts> {
  const root = await mkdtemp(join(tmpdir(), 'convoke-sandbox-'));
  // Open to all users: only the sandbox may keep the program out.
  await chmod(root, 0o755);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const sandbox = await openSandbox({
    mode,
    dataDir: join(root, 'data'),
    clock: systemClock,
    log,
  });
  const server = createServer((_, response) => response.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const outside = join(root, 'outside.txt');
    await writeFile(outside, 'not for agents');
    const run = await runner(sandbox, root);
    const call = `fetch('http://127.0.0.1:${port}').then((r) => r.text(), (e) => 'failed: ' + e.cause?.code).then(console.log)`;
    const direct = `require('net').connect(${port}, '127.0.0.1').on('connect', function () { console.log('direct'); this.destroy(); }).on('error', (e) => console.log(e.code))`;
    return {
      report: await sandbox.describe(),
      looking: await run([
        'sh',
        '-c',
        'id -u; pwd; echo "$HOME"; ls /agent; touch here && ls -n here; env; ps -e | wc -l',
      ]),
      reading: await run([
        'sh',
        '-c',
        `cat ${outside} /etc/shadow /proc/${process.pid}/environ; ls ${root} /root`,
      ]),
      writing: await run([
        'sh',
        '-c',
        `for f in ${root}/new /usr/new /etc/new /agent/new /new /dev/new; do (echo x > $f) && echo wrote $f; done`,
      ]),
      inheriting: await run([
        'sh',
        '-c',
        'for fd in /proc/self/fd/*; do [ ! -e "$fd" ] || echo "open ${fd##*/}"; done; cat /proc/self/fd/40',
      ]),
      systemCalls: await run(['python3', '-c', callingScript, JSON.stringify(attemptedCalls())]),
      foreignSystemCall: await run(['python3', '-c', foreignCall]),
      working: await run(['sh', '-c', ordinaryWork], {
        env: { UV_USE_IO_URING: '1' },
        limits: { memoryMb: 2048, pids: 64, seconds: 60 },
      }),
      calling: await run(['node', '-e', `${call}; ${direct}`]),
      callingAllowed: await run(['node', '-e', `${call}; ${direct}`], {
        network: [`127.0.0.1:${port}`],
      }),
      tunnelling: await run(['node', '-e', `${tunnelTo(port)}; ${tunnelTo(port + 1)}`], {
        network: [`127.0.0.1:${port}`],
      }),
      forking: await run([
        'sh',
        '-c',
        `i=0; while [ $i -lt 500 ]; do sleep ${nap} & i=$((i+1)); done`,
      ]),
      swallowing: await run([
        'python3',
        '-c',
        "a=[]\nwhile len(a) < 100: a.append(b'x' * 20_000_000)\nprint('swallowed')",
      ]),
      outliving: await run([
        'sh',
        '-c',
        `(setsid sh -c 'touch up; exec sleep ${nap}' &); until [ -e up ]; do sleep 0.01; done; echo left`,
      ]),
      dallying: await run(['sleep', nap], { limits: { memoryMb: 256, pids: 64, seconds: 0.3 } }),
    };
  } finally {
    server.close();
    await sandbox.close();
    await removeFolder(root);
  }
}

const callingScript = readFileSync(new URL('system-calls.py', import.meta.url), 'utf8');
const cloneNewUser = 0x1000_0000;
const cloneFiles = 0x400;

function attemptedCalls(): Readonly<Record<string, readonly number[]>> {
  const column = architectures[process.arch]?.column ?? 0;
  const { clone, clone3, unshare, socket } = conditionalCalls;
  const refused = Object.entries(refusedCalls).flatMap(([name, numbers]) => {
    const number = numbers[column];
    return number === undefined ? [] : [[name, [number]] as const];
  });
  return {
    ...Object.fromEntries(refused),
    clone3: [clone3[column]],
    'unshare a user namespace': [unshare[column], cloneNewUser],
    'unshare open files': [unshare[column], cloneFiles],
    'socket of the hypervisor': [socket[column], 40, 1],
    'socket of cryptography': [socket[column], 38, 5],
    'socket of the file system': [socket[column], 1, 1],
    'newer than the table': [newestKnownCall + 1],
    'of the x32 ABI': [0x4000_0000 + clone[column]],
    'clone with a user namespace': [clone[column], cloneNewUser],
  };
}

/** Asks for the process id as a 32-bit program does: mov eax, 20; int 0x80; ret. */
const foreignCall = `
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex('b814000000cd80c3'))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print('made', call() > 0)
`;

/** What agents do all day: processes, threads, pipes, asynchronous files, a repository. */
const ordinaryWork = `set -e
node -e "require('fs').promises.readFile('/etc/passwd', 'utf8').then((t) => console.log('node', t.includes('agent')))"
node -e "new (require('worker_threads').Worker)('console.log(1 + 1)', { eval: true })"
python3 -c "import subprocess, threading; t = threading.Thread(target=lambda: print('thread', flush=True)); t.start(); t.join(); print('python', subprocess.check_output(['echo', 'x']) == b'x\\n')"
bash -c 'echo bash $(seq 3 | sort -r | head -1) <(true)' | cut -c1-6
git init -q repository && cd repository && git config user.email a@b && git config user.name a
echo text > file && git add file && git commit -qm first && git clone -q . ../clone && git -C ../clone log --format=%s
`;

/** Asks the proxy for a tunnel, as an HTTPS client does, and sends a request through it. */
function tunnelTo(port: number): string {
  return `require('net').connect(3128, '127.0.0.1', function () {
    this.write('CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
    this.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
  }).setEncoding('utf8').on('data', (text) => process.stdout.write(text))`;
}

type Run = (command: readonly string[], more?: Partial<SpawnOptions>) => Promise<Outcome>;

async function runner(sandbox: Sandbox, root: string): Promise<Run> {
  const [sessionFolder, home] = [join(root, 'workspace'), join(root, 'home')];
  for (const folder of [sessionFolder, home]) {
    await mkdir(folder, { mode: 0o700 });
    if (sandbox.account !== undefined)
      await chown(folder, sandbox.account.uid, sandbox.account.gid);
  }
  return async (command, more) => {
    const child = await sandbox.spawn(command, {
      mode: 'auto',
      sessionFolder,
      home,
      folder: agentFolder,
      env: { GIVEN: "it's given" },
      limits: { memoryMb: 256, pids: 64, seconds: 20 },
      network: [],
      ...more,
    });
    child.stdin.end();
    const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
    return { ...exit, output, errors: child.errorOutput(), survivors: sleepers().length };
  };
}

function sleepers(): number[] {
  const isSleeper = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${nap}\0`;
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter(isSleeper).map(Number);
}

const attempts = await attemptAll(process.argv[2] === 'none' ? 'none' : 'auto');
for (const pid of sleepers()) process.kill(pid, 'SIGKILL');
process.stdout.write(JSON.stringify(attempts));
