/**
 * Preloaded into every server that is measured (`node --import`), the same in all: reports over the channel to
 * the parent what the process has used. A server whose benchmark is gone ends itself.
 */
import { writeFileSync } from 'node:fs';
import type { Session } from 'node:inspector/promises';
import { type Counts, countMessages, countStatements, countsSoFar } from './counters.ts';

export type Question =
  | { readonly id: number; readonly ask: 'usage' | 'collected' | 'profile' }
  | { readonly id: number; readonly ask: 'saveProfile'; readonly path: string };

export interface Usage extends Counts {
  /** Processor time since the start. */
  readonly cpuUs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

let profiler: Session | undefined;

const databaseUrl = process.env['CONVOKE_DATABASE_URL'];
if (databaseUrl === undefined) countStatements();
else countMessages(Number(new URL(databaseUrl).port || 5432));

process.on('message', (question: Question) => {
  void answer(question).then((usage) => process.send?.({ id: question.id, usage }));
});
process.on('disconnect', () => process.exit());
process.channel?.unref();

async function answer(question: Question): Promise<Usage> {
  switch (question.ask) {
    case 'usage':
      break;
    case 'collected':
      await collect();
      break;
    case 'profile':
      profiler = await startProfiler();
      break;
    case 'saveProfile': {
      const stopped = await profiler?.post('Profiler.stop');
      profiler?.disconnect();
      if (stopped !== undefined) writeFileSync(question.path, JSON.stringify(stopped.profile));
      break;
    }
  }
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    cpuUs: user + system,
    rssBytes: rss,
    heapBytes: heapUsed + external,
    ...countsSoFar(),
  };
}

/** Loaded when it is wanted: what is measured should hold no more than it must. */
async function startProfiler(): Promise<Session> {
  const inspector = await import('node:inspector/promises');
  const session = new inspector.Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  return session;
}

/**
 * Garbage is not part of the measured cost, and neither are the pages that V8 keeps for new objects: after a burst of
 * requests they are tens of megabytes without an object in them, more or less of them from run to run.
 */
async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    // What a collection frees is finalized in a later turn; the last one ends with what is measured.
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    // Only this flavor returns pages.
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  }
}
