import { isTerminalRunStatus } from '@convoke/contract';
import { type AgUiMessage, agUiMessages, bytesOf, snapshotBounds } from '@convoke/faces';
import type { Services } from '../../services.ts';
import { shownInputOf } from '../../../domain/run/run-input.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import { eventsOfRow, readTranscript } from '../history.ts';

/** The runs that a conversation is rebuilt from, and the bytes of their logs that are read for it (D-435). */
export const historyRuns = 50;
const logBytes = 8 * 1024 * 1024;

/** The run that a client follows when it connects: the oldest one that has not ended, else the newest. */
export function followedOf(newestFirst: readonly Run[]): Run | undefined {
  return newestFirst.findLast(({ status }) => !isTerminalRunStatus(status)) ?? newestFirst[0];
}

/** Messages of the conversation before the answer of a run, of the newest runs that fit into one snapshot. */
export async function messagesBefore(
  services: Pick<Services, 'store'>,
  run: Run,
  newestFirst: readonly Run[],
): Promise<readonly AgUiMessage[]> {
  const messages: AgUiMessage[] = [inputOf(run)];
  let bytes = bytesOf(messages);
  let unread = logBytes;
  for (const earlier of newestFirst.slice(newestFirst.indexOf(run) + 1)) {
    const log = unread > 0 ? await readTranscript(services, earlier, unread) : undefined;
    unread -= log?.bytes ?? 0;
    const said = agUiMessages(
      { sessionId: earlier.sessionId, runId: earlier.id },
      log?.events ?? eventsOfRow(earlier),
    );
    messages.unshift(inputOf(earlier), ...said);
    bytes += bytesOf(said);
    if (bytes > snapshotBounds.bytes || messages.length > snapshotBounds.messages) break;
  }
  return messages;
}

function inputOf(run: Run): AgUiMessage {
  return { id: inputId(run.id), role: 'user', content: shownInputOf(run) };
}

/** Messages of the client that are not of this run: what the run says is read from its log. */
export function messagesOfOthers(
  messages: readonly JsonObject[],
  run: Pick<Run, 'id'>,
): readonly JsonObject[] {
  return messages.filter(({ id }) => {
    const isOfRun = typeof id === 'string' && id.startsWith(`${run.id}-`);
    return !isOfRun || id === inputId(run.id);
  });
}

function inputId(run: string): string {
  return `${run}-input`;
}
