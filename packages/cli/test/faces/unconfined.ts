import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Sandbox } from '../../../server/src/ports/sandbox.ts';

/** A sandbox that confines nothing: for a program of ours, which has to reach its server. */
export const unconfined: Sandbox = {
  account: undefined,
  folder: '/nonexistent',
  describe: () => Promise.reject(new Error('not asked')),
  keepAlive: () => {},
  close: () => Promise.resolve(),
  async spawn([program = '', ...args], { sessionFolder, home, folder, env }) {
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    const child = spawn(program, args, { cwd: sessionFolder, env, stdio: [...stdio] });
    const exited = once(child, 'exit').then(() => ({
      started: true,
      code: child.exitCode ?? 1,
      outOfMemory: false,
      timedOut: false,
    }));
    if (child.stdin === null || child.stdout === null) throw new Error('there are no pipes');
    return {
      places: { sessionFolder, home, folder },
      stdin: child.stdin,
      stdout: child.stdout,
      errorOutput: () => '',
      dropErrorOutput: () => {},
      exited,
      mark: async () => async () => 0,
      suspend: async () => child.kill('SIGSTOP'),
      resume: () => void child.kill('SIGCONT'),
      terminate: () => void child.kill('SIGTERM'),
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  },
};
