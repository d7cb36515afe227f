// A terminal that a person could sit at: tmux draws it, keys go in, and the screen can be read.
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from '../../../test/remove-folder.ts';

const run = promisify(execFile);
const patienceMs = 60_000;
const lookAgainMs = 100;

export interface TerminalSession {
  /** Types a line and presses Enter. */
  type(line: string): Promise<void>;
  /** Presses a key by tmux's name for it: `C-c`. */
  press(key: string): Promise<void>;
  /** Looks until the screen, colours left out, shows this; answers the whole screen. */
  shows(expected: RegExp): Promise<string>;
  /** The screen with its escape sequences. */
  raw(): Promise<string>;
  close(): Promise<void>;
}

export interface OpenTerminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
}

export async function openTerminal(options: OpenTerminal): Promise<TerminalSession> {
  const { cwd, env, columns = 100 } = options;
  const folder = await mkdtemp(join(tmpdir(), 'convoke-terminal-'));
  const tmux = (...args: string[]) => run('tmux', ['-S', join(folder, 'socket'), ...args]);
  const variables = Object.entries({ PS1: '$ ', HOME: folder, ...env }).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ]);
  const size = ['-x', String(columns), '-y', '50'];
  const shell = ['bash', '--norc', '--noprofile'];
  await tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, ...variables, ...shell);
  const screen = async (...more: string[]) =>
    (await tmux('capture-pane', '-p', '-J', ...more)).stdout;

  return {
    async type(line) {
      await tmux('send-keys', '-l', line);
      await tmux('send-keys', 'Enter');
    },
    async press(key) {
      await tmux('send-keys', key);
    },
    async shows(expected) {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const text = await screen();
        if (expected.test(text)) return text;
        if (performance.now() > deadline) {
          throw new Error(`the screen never showed ${expected}; it shows:\n${text}`);
        }
        await new Promise((resolve) => {
          setTimeout(resolve, lookAgainMs);
        });
      }
    },
    raw: () => screen('-e'),
    async close() {
      await tmux('kill-server').catch(() => undefined);
      await removeFolder(folder);
    },
  };
}
