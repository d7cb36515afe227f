import { type SessionId, parseEventId } from '@convoke/contract';
import type { UiStreamOptions } from '@convoke/faces';
import type { Run } from '../../../domain/run/run.ts';
import { answerPending } from '../../interactions.ts';
import { refuse } from '../../refusal.ts';
import { getRun } from '../../runs/runs.ts';
import type { Services } from '../../services.ts';
import type { FaceCaller } from '../caller.ts';
import type { AssistantMessage } from './input.ts';

/** Answers what is still pending of what the message shows. Returns the run of these interactions. */
export async function answerInteractions(
  services: Services,
  caller: FaceCaller,
  { sessionId, message }: { readonly sessionId: SessionId; readonly message: AssistantMessage },
): Promise<Run> {
  const { scope, by, allower } = caller;
  if (message.answers.length > 0) caller.requireScopes('interactions:write');
  let runId: Run['id'] | undefined;
  for (const { key, body } of message.answers) {
    const answered = await answerPending(services, scope, { sessionId, key, body, by, allower });
    runId = answered?.runId ?? runId;
  }
  if (runId === undefined) {
    const text = 'The last message answers no interaction of this session.';
    return refuse('invalid_body', { message: text });
  }
  return getRun(services, scope, { sessionId, runId });
}

/**
 * What the sender of a message has of the run: what follows the last event that it names, or the requests that it
 * shows.
 */
export function positionOf(
  { lastEventId, shown }: AssistantMessage,
  run: Run,
): Pick<UiStreamOptions, 'after' | 'shown'> {
  const seq = parseEventId(lastEventId ?? '') ?? 0;
  return seq > 0 && seq <= run.lastSeq ? { after: lastEventId } : { shown };
}
