// The NATS the tests talk to: found if one runs, started if only its program is installed, never skipped.
// Vitest runs `setup` once, before any test file; test workers inherit the environment set here.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { freePort } from './free-port.ts';

const usualPort = 4222;
const startLimitMs = 15_000;

export async function setup(): Promise<(() => void) | undefined> {
  if (process.env['CONVOKE_TEST_NATS_URL'] !== undefined) return undefined;
  if (await answers(usualPort)) {
    name(usualPort);
    return undefined;
  }
  const port = await freePort();
  // The shell waits for the end of its input, which comes when this process ends, even killed: no server is left.
  const guard = `PATH=$PATH:/usr/sbin; nats-server -a 127.0.0.1 -p ${port} & read -r _; kill $!`;
  const server = spawn('sh', ['-c', guard], { stdio: ['pipe', 'ignore', 'ignore'] });
  const deadline = performance.now() + startLimitMs;
  while (!(await answers(port))) {
    if (performance.now() > deadline) throw new Error(advice);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  name(port);
  return () => server.stdin.end();
}

const advice =
  'No NATS for the tests: set CONVOKE_TEST_NATS_URL, run one on 127.0.0.1:4222, or install it (Debian: apt install nats-server)';

/** The NATS a suite uses. Throws with advice if there is none: a suite never skips itself. */
export function natsUrl(): string {
  const url = process.env['CONVOKE_TEST_NATS_URL'];
  if (url === undefined) throw new Error(advice);
  return url;
}

function name(port: number): void {
  process.env['CONVOKE_TEST_NATS_URL'] = `nats://127.0.0.1:${port}`;
}

function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('data', (greeting) => settle(greeting.toString().startsWith('INFO')));
    socket.once('error', () => settle(false));
    const settle = (isNats: boolean) => {
      socket.destroy();
      resolve(isNats);
    };
  });
}
