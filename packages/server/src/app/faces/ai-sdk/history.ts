import { fileId, limits } from '@convoke/contract';
import {
  type UiMessage,
  type UiPart,
  type UiStreamOptions,
  assistantMessage,
} from '@convoke/faces';
import type { Services } from '../../services.ts';
import { acceptedPrompt, otherMembers } from '../../../domain/run/run-input.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Allower } from '../../../domain/rules/approvers.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { CutPage } from '../../../ports/page.ts';
import { mayAllowIn } from '../caller.ts';
import { readTranscript } from '../history.ts';

interface HistoryParts extends Pick<Services, 'store'> {
  /** The address of the server for browsers: a page of another origin opens the files of a message by it (D-483). */
  readonly baseUrl: string;
  /** The usage of a run, as in its record. */
  readonly usageOf: (run: Run) => ReturnType<NonNullable<UiStreamOptions['usage']>>;
  readonly reader: Allower;
}

/** The messages of one run: the user's, and the assistant's once there is something of it. */
export interface RunMessages {
  readonly runId: Run['id'];
  readonly messages: readonly UiMessage[];
}

/**
 * The messages of these runs, as far as their logs fit into a page; the first run is shown whatever its size (D-276).
 */
export async function messagesOf(
  services: HistoryParts,
  { items, isCut }: CutPage<Run>,
): Promise<CutPage<RunMessages>> {
  const shown: RunMessages[] = [];
  let bytes = 0;
  for (const run of items) {
    const { messages, bytes: ofRun } = await messagesOfRun(services, run);
    bytes += ofRun;
    if (shown.length > 0 && bytes > limits.pageMaxBytes) return { items: shown, isCut: true };
    shown.push({ runId: run.id, messages });
  }
  return { items: shown, isCut };
}

async function messagesOfRun(
  services: HistoryParts,
  run: Run,
): Promise<{ readonly messages: readonly UiMessage[]; readonly bytes: number }> {
  const { id: runId, sessionId } = run;
  const parts = await inputParts(services, run);
  const asked: UiMessage = { id: `${runId}-input`, role: 'user', parts };
  const { events, isTruncated, bytes } = await readTranscript(services, run);
  if (events.length === 0) return { messages: [asked], bytes };
  const usage = () => services.usageOf(run);
  const mayAllow = mayAllowIn(run, services.reader);
  const shown = { sessionId, runId, isTruncated, usage, mayAllow };
  return { messages: [asked, assistantMessage(shown, events)], bytes };
}

async function inputParts({ store, baseUrl }: HistoryParts, run: Run): Promise<readonly UiPart[]> {
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
      url: `${baseUrl}/v1/sessions/${run.sessionId}/files/${id}/content`,
    });
  }
  const data = otherMembers(input);
  const hasData = Object.keys(data).length > 0;
  const text = acceptedPrompt(input);
  return [
    ...files,
    ...(hasData ? [{ type: 'data-input', data } as const] : []),
    ...(text === '' && hasData ? [] : [{ type: 'text', text } as const]),
  ];
}
