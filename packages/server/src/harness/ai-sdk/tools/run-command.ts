import { z } from 'zod';
import { type Sandbox, SandboxUnavailable, type SpawnOptions } from '../../../ports/sandbox.ts';
import { inBackground } from '../../../runtime/in-background.ts';
import { type AgentTool, type ToolOutput, failed, succeeded } from './agent-tool.ts';

const defaultSeconds = 120;
const secondsMax = 600;
/** The beginning of an output mostly shows what was done, the end what went wrong. */
const headBytes = 16 * 1024;
const tailBytes = 48 * 1024;

const inputSchema = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(64 * 1024)
    .describe('For sh, run in the workspace'),
  timeout_seconds: z.int().min(1).max(secondsMax).optional(),
});

/** Folders, network and limits of the commands of an agent. */
export type CommandPlace = Omit<SpawnOptions, 'env' | 'limits'> & {
  readonly limits: { readonly memoryMb: number; readonly pids: number };
};

export function runCommandTool(sandbox: Pick<Sandbox, 'spawn'>, place: CommandPlace): AgentTool {
  const name = 'run_command';
  return {
    name,
    wireName: name,
    description: `Runs a shell command in a sandbox, in the workspace, for at most ${secondsMax} s. Output and errors come back together.`,
    inputSchema,
    touches: place.network.length > 0 ? 'both' : 'workspace',
    isRepeatable: false,
    async run(given, { signal }) {
      const parsed = inputSchema.safeParse(given);
      if (!parsed.success) return failed(`${name}: ${z.prettifyError(parsed.error)}`);
      const { command, timeout_seconds: seconds = defaultSeconds } = parsed.data;
      try {
        return await run({ sandbox, place, command, seconds, signal });
      } catch (error) {
        if (error instanceof SandboxUnavailable) return failed(`${name}: ${error.message}`);
        throw error;
      }
    },
  };
}

interface Command {
  readonly sandbox: Pick<Sandbox, 'spawn'>;
  readonly place: CommandPlace;
  readonly command: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

async function run({ sandbox, place, command, seconds, signal }: Command): Promise<ToolOutput> {
  if (signal.aborted) return failed('run_command: the run was cancelled');
  // An empty environment: the secrets of the agent's `env` are for its model, not for commands.
  const child = await sandbox.spawn(['/bin/sh', '-c', `exec 2>&1\n${command}`], {
    ...place,
    env: {},
    limits: { ...place.limits, seconds },
  });
  const kill = () => inBackground(child.kill());
  signal.addEventListener('abort', kill, { once: true });
  // The run may have been cancelled while the program was starting.
  if (signal.aborted) kill();
  child.stdin.on('error', () => undefined).end();
  try {
    const output = new Ends();
    for await (const chunk of child.stdout) output.add(Buffer.from(chunk as Uint8Array));
    const exit = await child.exited;
    if (signal.aborted) return failed('run_command: the run was cancelled');
    if (!exit.started) return failed(`run_command: the sandbox failed: ${child.errorOutput()}`);
    const notes = [
      ...(exit.timedOut ? [`(ended after ${seconds} s)`] : []),
      ...(exit.outOfMemory ? ['(ended: out of memory)'] : []),
      ...(exit.code === 0 ? [] : [`(exit code ${exit.code})`]),
    ];
    const text = [output.text().trimEnd(), ...notes].filter((part) => part !== '').join('\n');
    return exit.code === 0 ? succeeded(text || '(no output)') : failed(text);
  } finally {
    signal.removeEventListener('abort', kill);
    await child.kill();
  }
}

/** Keeps the beginning and the end of an output of any length. */
class Ends {
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #dropped = 0;

  add(chunk: Buffer): void {
    const room = headBytes - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    const tail = Buffer.concat([this.#tail, rest]);
    const excess = Math.max(0, tail.length - tailBytes);
    this.#dropped += excess;
    this.#tail = tail.subarray(excess);
  }

  text(): string {
    const gap = this.#dropped > 0 ? `\n(${this.#dropped} bytes left out)\n` : '';
    if (gap === '') return Buffer.concat([this.#head, this.#tail]).toString('utf8');
    return this.#head.toString('utf8') + gap + this.#tail.toString('utf8');
  }
}
