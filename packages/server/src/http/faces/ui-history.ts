import { type UiMessage, type UiPart, assistantMessage, fileId } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import { acceptedPrompt } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Run } from '../../domain/run/run.ts';
import { usageOf } from '../views/runs.ts';
import { readEvents } from './run-history.ts';

/** The messages of one run: the user's, and the assistant's once there is something of it. */
export async function messagesOf(
  services: Pick<Services, 'store'>,
  run: Run,
): Promise<readonly UiMessage[]> {
  const { id: runId, sessionId } = run;
  const parts = await inputParts(services, run);
  const asked: UiMessage = { id: `${runId}-input`, role: 'user', parts };
  const { events, isTruncated } = await readEvents(services, run);
  if (events.length === 0) return [asked];
  return [
    asked,
    assistantMessage({ sessionId, runId, isTruncated, usage: () => usageOf(run) }, events),
  ];
}

async function inputParts(
  { store }: Pick<Services, 'store'>,
  run: Run,
): Promise<readonly UiPart[]> {
  const input = JSON.parse(run.input) as JsonObject;
  const ids = Array.isArray(input['files']) ? (input['files'] as readonly string[]) : [];
  const files: UiPart[] = [];
  for (const id of ids) {
    const file = await store.read.files.find(run, run.sessionId, fileId(id));
    if (file === undefined) continue;
    files.push({
      type: 'file',
      mediaType: file.contentType,
      filename: file.name,
      url: `/v1/sessions/${run.sessionId}/files/${id}/content`,
    });
  }
  return [...files, { type: 'text', text: acceptedPrompt(input) }];
}
