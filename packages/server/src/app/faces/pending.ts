import { formatEventId } from '@convoke/contract';
import { type AskItem, RunTranscript, type TranscriptEvent } from '@convoke/faces';
import type { Interaction } from '../../domain/interaction.ts';
import { requestEvent } from '../../domain/run/interaction-event.ts';
import type { Run } from '../../domain/run/run.ts';
import { listInteractions } from '../interactions.ts';
import type { Services } from '../services.ts';

const pendingMax = 100;

type Reading = Pick<Services, 'store' | 'clock'>;

/** The requests of the run that are open, the oldest first. */
export async function pendingOf(
  services: Reading,
  { organizationId, tenantId, sessionId, id }: Run,
): Promise<readonly Interaction[]> {
  const page = { limit: pendingMax, order: 'asc', after: undefined } as const;
  const request = { sessionId, status: 'pending', page } as const;
  const { items } = await listInteractions(services, { organizationId, tenantId }, request);
  return items.filter(({ runId }) => runId === id);
}

/** The pending requests of the run, as its log has them. */
export async function eventsOfPending(
  services: Reading,
  run: Run,
): Promise<readonly TranscriptEvent[]> {
  const pending = await pendingOf(services, run);
  return pending.map((interaction) => ({
    id: formatEventId(run.lastSeq),
    ...requestEvent(interaction),
  }));
}

/** The pending requests of the run, as readers of its log see them, the oldest first. */
export async function openAsks(services: Reading, run: Run): Promise<readonly AskItem[]> {
  const transcript = new RunTranscript();
  for (const event of await eventsOfPending(services, run)) transcript.take(event);
  return transcript.waiting;
}
