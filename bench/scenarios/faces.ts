import { Client } from '../client.ts';
import type { Scale, Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import { type StartedRun, followRun, openSessions, requireWhole, startRun } from '../workload.ts';

const runs: Readonly<Record<Scale, number>> = { full: 30, quick: 15, smoke: 1 };
const readersAt = (scale: Scale) => (scale === 'smoke' ? 4 : 32);

/** All readers are there before the run says its first word. */
const agent = { deltas: 50, everyMs: 1, waitMs: 400 };

/**
 * How long the 50 words of a run take to their reader: beside no other reader, beside 32 more of its kind, and beside
 * 32 that read the run as a chat of the AI SDK.
 */
export const faces: Scenario = {
  id: 'faces',
  targets: ['convoke'],
  agents: () => [agent],
  rows: [
    row('alone', 'run of 50 deltas, one per 1 ms, 1 reader, p50'),
    row('withNative', '… beside 32 more readers'),
    row('withFaces', '… beside 32 readers of the AI SDK face'),
  ],

  async slice({ address, scale }) {
    const readers = readersAt(scale);
    const client = new Client(address, readers + 2);
    const [session = ''] = await openSessions(client, agent, 1);
    const beside = {
      alone: async () => {},
      withNative: async (run: StartedRun) => {
        await repeated(readers, async () => requireWhole(await followRun(client, run), agent));
      },
      withFaces: async ({ sessionId }: StartedRun) => {
        await repeated(readers, async () => {
          const text = await client.text(`/v1/sessions/${sessionId}/ai-sdk/bench/stream`);
          if (!text.endsWith('data: [DONE]\n\n')) throw new Error('a chat did not end');
        });
      },
    };
    const times = { alone: [], withNative: [], withFaces: [] } as Record<
      keyof typeof beside,
      number[]
    >;
    const kinds = Object.keys(beside) as (keyof typeof beside)[];
    // In turn, so that whatever else the machine does meets all of them.
    for (let round = 0; round <= runs[scale]; round += 1) {
      for (const kind of kinds) {
        const run = await startRun(client, session);
        const [followed] = await Promise.all([
          followRun(client, run, { strict: true }),
          beside[kind](run),
        ]);
        requireWhole(followed, agent);
        // The first run of a session makes its folder.
        if (round > 0) times[kind].push(followed.lastAt - followed.firstAt - agent.waitMs);
      }
    }
    client.close();
    return {
      operations: kinds.length * runs[scale],
      alone: median(times.alone),
      withNative: median(times.withNative),
      withFaces: median(times.withFaces),
    };
  },
};

async function repeated(count: number, once: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, once));
}

function row(figure: string, title: string) {
  return { figure, title, unit: 'ms', better: 'less', target: 'the same' } as const;
}
