// Starts an agent's program: node launch.ts ENTRY FOLDER [--check LABEL]. Lines to the server go to descriptor 3, so that
// whatever the program and its children print is never part of the answer.
import { readFileSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { bodyOf, contextOf } from './agent.ts';
import { Misuse } from './failures.ts';
import { Leg } from './leg.ts';
import type { ServerMessage, StartMessage } from './lines.ts';
import { type Program, loadProblem, manifestProblem, whereOf } from './problems.ts';

const outputDescriptor = 3;
const waitCell = new Int32Array(new SharedArrayBuffer(4));

const [, , entry = '', folder = '', flag, label = "the agent's folder"] = process.argv;
const program: Program = { entry, folder, label };

resolveKit();
if (flag === '--check') {
  write({ type: 'checked', problem: (await check()) ?? null });
  process.exit();
}
await runLeg();
process.exit();

/** Every import of the kit gets the copy of the server, also where the agent's folder has one: two would not know each other. */
function resolveKit(): void {
  const { url: own } = import.meta;
  registerHooks({
    resolve(specifier, context, next) {
      const [, entryOfKit] = /^@convoke\/agent(?:\/(\w[\w-]*))?$/.exec(specifier) ?? [];
      if (!specifier.startsWith('@convoke/agent')) return next(specifier, context);
      const file = `./${entryOfKit ?? 'index'}${own.slice(own.lastIndexOf('.'))}`;
      return { url: new URL(file, own).href, shortCircuit: true };
    },
  });
}

async function check(): Promise<string | undefined> {
  const { version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const loaded = manifestProblem(program, version) ?? (await load());
  return typeof loaded === 'string' ? loaded : undefined;
}

/** The agent's function, or what is wrong. */
async function load(): Promise<string | NonNullable<ReturnType<typeof bodyOf>>> {
  try {
    const loaded = (await import(pathToFileURL(entry).href)) as { default?: unknown };
    // A CommonJS file that was compiled from a module has its default one level below.
    const body =
      bodyOf(loaded.default) ?? bodyOf((loaded.default as { default?: unknown })?.default);
    return body ?? `${entry.slice(folder.length)} must export agent(…) as its default`;
  } catch (error) {
    return loadProblem(error, program);
  }
}

async function runLeg(): Promise<void> {
  const { stdin } = process;
  const lines = createInterface({ input: stdin });
  const first = Promise.withResolvers<StartMessage>();
  const early: ServerMessage[] = [];
  let receive = (message: ServerMessage): void => {
    early.push(message);
  };
  lines.on('line', (line) => {
    const message = JSON.parse(line) as StartMessage | ServerMessage;
    if (message.type === 'start') first.resolve(message);
    else receive(message);
  });
  // The server asks with a line, too, and the function may clean up (D-172).
  process.on('SIGTERM', () => {});
  const body = await load();
  const start = await first.promise;
  const running = new Leg({
    start,
    send: write,
    // Only while it waits for the server does an open connection keep the process alive.
    onHold: (isHeld) => (isHeld ? stdin.ref() : stdin.unref()),
    locate: (error) => whereOf(error, folder),
  });
  receive = (message) => running.receive(message);
  if (typeof body === 'string') return running.fail(new Misuse(body));
  endWithProcess(running);
  for (const message of early) running.receive(message);
  const ctx = contextOf(running);
  stdin.unref();
  await running.run(() => body(ctx));
}

function endWithProcess(leg: Leg): void {
  process.on('uncaughtException', (error) => {
    leg.fail(error);
    process.exit();
  });
  process.on('exit', () => leg.fail(new Misuse('The program ended before its function did.')));
}

/** Writes one line, and waits while the server does not read: a program cannot be faster than its log. */
function write(message: object): void {
  let rest = Buffer.from(`${JSON.stringify(message)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(outputDescriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(waitCell, 0, 0, 1);
    }
  }
}
