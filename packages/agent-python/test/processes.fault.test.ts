// The programs of the zoo in real processes, which are killed before and after every line, and handed over at each.
// packages/agent/test/python.slow.test.ts does the same within one process.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../test/repository.ts';
import type { KitMessage } from '../../agent/src/lines.ts';
import { type RehearsalOptions, RehearsedRun } from '../../agent/src/rehearsal/rehearsed-run.ts';
import { zoo } from '../../agent/test/zoo.ts';

const kit = join(root, 'packages/agent-python');
const entries = { zoo: 'def', async_zoo: 'async def' };
const played = Object.entries(zoo).map(([name, specimen], index) => ({ name, index, ...specimen }));
const kinds = ['lost before', 'lost after', 'yield after'] as const;

interface Seat {
  readonly kind: (typeof kinds)[number];
  readonly message: number;
}

let folder: string;
/** As in the sandbox: the system's Python, and compiled code that a check has left. */
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-python-'));
  env = { PATH: '/usr/bin:/bin', PYTHONPYCACHEPREFIX: join(folder, 'compiled') };
  for (const file of Object.keys(entries)) {
    for (const [index, name] of Object.keys(zoo).entries()) {
      const place = join(folder, file, String(index));
      await mkdir(place, { recursive: true });
      const test = JSON.stringify(join(kit, 'test'));
      const source = `import sys\nsys.path.append(${test})\nfrom ${file} import zoo\nmain = zoo[${JSON.stringify(name)}][0]\n`;
      await writeFile(join(place, 'agent.py'), source);
      execFileSync('/bin/sh', [...commandOf(place), '--check', name], { cwd: place, env });
    }
  }
});
afterAll(() => rm(folder, { recursive: true }));

const commandOf = (place: string) => [join(kit, 'launch.sh'), join(place, 'agent.py'), `${place}/`];

interface Played {
  readonly run: RehearsedRun;
  readonly messages: number;
}

/** Plays a run to its end, each of its legs in a process. */
async function play(place: string, options: RehearsalOptions, seat?: Seat): Promise<Played> {
  const run = new RehearsedRun(options);
  let messages = 0;
  while (run.end === undefined) {
    const isLost = await playLeg(run, place, () => {
      messages += 1;
      return seat?.message === messages - 1 ? seat.kind : undefined;
    });
    if (isLost && run.end === undefined) run.lose();
    else run.endLeg();
    run.reply();
  }
  return { run, messages };
}

/** Resolves with whether the process was killed. */
async function playLeg(
  run: RehearsedRun,
  place: string,
  happening: () => Seat['kind'] | undefined,
): Promise<boolean> {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child = spawn('/bin/sh', commandOf(place), { cwd: place, env, stdio: [...stdio] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(run.start())}\n`);
  let isLost = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (isLost) continue;
    const message = JSON.parse(line) as KitMessage;
    isLost = take(run, { message, kind: happening(), child });
    if (isLost) child.kill('SIGKILL');
    else if (message.type === 'end') child.stdin.end();
  }
  await exited;
  return isLost;
}

/** Does what a server does with a line. Returns whether the process is to be killed. */
function take(
  run: RehearsedRun,
  {
    message,
    kind,
    child,
  }: { message: KitMessage; kind: Seat['kind'] | undefined; child: ChildProcess },
): boolean {
  if (kind === 'lost before') return true;
  run.record(message);
  if (kind === 'lost after') return true;
  const send = (answer: object) => child.stdin?.write(`${JSON.stringify(answer)}\n`);
  if (kind === 'yield after') send({ type: 'yield' });
  if (message.type === 'call_begin') send(run.tell(message.call_id));
  return false;
}

const effectsIn = ({ called }: RehearsedRun) =>
  called.filter(({ isRepeatable }) => !isRepeatable).map(({ name }) => name);

describe.each(Object.entries(entries))('%s.py (%s)', (file) => {
  test.each(played)(
    '$name',
    async ({ index, options = {} }) => {
      const place = join(folder, file, String(index));
      const { comparable = (text: string) => text } = options;
      const { run: expected, messages } = await play(place, options);
      expect(expected.end).toMatchObject({ outcome: 'completed' });
      for (let message = 0; message < messages; message += 1) {
        for (const kind of kinds) {
          const { run } = await play(place, options, { kind, message });
          const what = `${kind} ${message}`;
          const effects = effectsIn(run).toSorted((a, b) => a.localeCompare(b));
          const once = effectsIn(expected).toSorted((a, b) => a.localeCompare(b));
          if (run.hasDoubt) {
            expect([what, effects.length]).toEqual([what, Math.min(effects.length, once.length)]);
            continue;
          }
          expect([what, comparable(run.text), effects]).toEqual([
            what,
            comparable(expected.text),
            once,
          ]);
          const { end, state, tokens, events } = run;
          expect([what, end?.outcome, state, tokens, events]).toEqual([
            what,
            'completed',
            expected.state,
            expected.tokens,
            expected.events,
          ]);
        }
      }
    },
    600_000,
  );
});
