// Starts an agent: node launch.ts ENTRY FOLDER [--serve | --check LABEL]. Lines to the server go to descriptor 3, so
// that nothing that the agent and its children print becomes part of the answer. With --serve it sends `ready` before
// it loads the agent, and executes one leg after the other until its input ends (D-185).
import { readFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bodyOf } from './agent.ts';
import { Misuse } from './failures.ts';
import { Leg } from './leg.ts';
import { Inbox } from './inbox.ts';
import type { StartMessage } from './lines.ts';
import { perform } from './perform.ts';
import { type Program, loadProblem, manifestProblem, whereOf } from './problems.ts';
import { resolveKit } from './resolve-kit.ts';

const outputDescriptor = 3;
/** The answer to a ping: the event loop turns (D-479). */
const alive = { type: 'alive' };
const waitCell = new Int32Array(new SharedArrayBuffer(4));

const [, , entry = '', folder = '', flag, label = "the agent's folder"] = process.argv;
const program: Program = { entry, folder, label };
/** The leg that was started last. */
let running: Leg | undefined;

resolveKit(entry);
// An exit before all is done is a failure, with Node's code for it. Nothing is awaited at the top level: if the event
// loop ran empty, Node would report a line of this file to the author.
process.exitCode = 13;
(flag === '--check' ? tellCheck() : runLegs()).then(
  () => process.exit(0),
  (error: unknown) => {
    process.nextTick(() => {
      throw error;
    });
  },
);

async function tellCheck(): Promise<void> {
  const checked = await check();
  // The server ends the process when it reads the line.
  flushCompileCache();
  write(checked);
}

async function check(): Promise<object> {
  const kit = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const loaded = manifestProblem(program, kit.version) ?? (await load());
  const problem = typeof loaded === 'string' ? loaded : null;
  const { versionWarnings } = await import('./versions/warnings.ts');
  return { type: 'checked', problem, warnings: versionWarnings(folder, kit) };
}

/** Returns the agent function, or a description of the problem. */
async function load(): Promise<string | NonNullable<ReturnType<typeof bodyOf>>> {
  try {
    const loaded = (await import(pathToFileURL(entry).href)) as { default?: unknown };
    // A CommonJS file that was compiled from a module has its default export one level deeper.
    const body =
      bodyOf(loaded.default) ?? bodyOf((loaded.default as { default?: unknown })?.default);
    return body ?? `${entry.slice(folder.length)} must have agent(…) as its default export`;
  } catch (error) {
    return loadProblem(error, program);
  }
}

async function runLegs(): Promise<void> {
  const isServing = flag === '--serve';
  const inbox = new Inbox(process.stdin);
  const folderAtStart = process.cwd();
  // The server also sends a `cancel`, and the function may clean up (D-172).
  process.on('SIGTERM', () => {});
  if (isServing) write({ type: 'ready' });
  let body: Awaited<ReturnType<typeof load>> | undefined;
  do {
    const start = await inbox.nextStart();
    if (start === undefined) return;
    // A kept process still has the variable of an earlier leg (D-588).
    if (start.traceparent !== undefined) process.env['TRACEPARENT'] = start.traceparent;
    body ??= await load();
    process.chdir(folderAtStart);
    await runLeg(inbox, start, body);
  } while (isServing);
}

async function runLeg(
  inbox: Inbox,
  start: StartMessage,
  body: Awaited<ReturnType<typeof load>>,
): Promise<void> {
  const { stdin } = process;
  const leg = new Leg({
    start,
    send: write,
    // The open connection keeps the process alive only while the kit waits for the server.
    onHold: (isHeld) => (isHeld ? stdin.ref() : stdin.unref()),
    locate: (error) => whereOf(error, folder),
  });
  if (typeof body === 'string') return leg.fail(new Misuse(body));
  if (running === undefined) endWithProcess();
  running = leg;
  let isRunning = true;
  inbox.deliverTo((message) => {
    if (message.type !== 'ping') leg.receive(message);
    else if (isRunning) write(alive);
  });
  stdin.unref();
  // From now on the server expects answers to pings.
  write(alive);
  await leg.run(() => perform(leg, body));
  isRunning = false;
}

function endWithProcess(): void {
  process.on('uncaughtException', (error) => {
    running?.fail(error);
    process.exit();
  });
  process.on('exit', () =>
    running?.fail(new Misuse('The process ended before the agent function returned.')),
  );
}

/** Writes one line, and blocks while the server does not read: an agent cannot be faster than its log. */
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
