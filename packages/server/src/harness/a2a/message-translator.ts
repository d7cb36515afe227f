import {
  type Artifact,
  type Part,
  type StreamResponse,
  type TaskStatus,
  TaskState,
} from '@a2a-js/sdk';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import { parsedJson } from '../parsed-json.ts';
import { isShort } from '../shown-value.ts';
import { ReturnedData } from './returned-data.ts';
import type { Waiting } from './state.ts';

/** Artifacts of one task whose emitted length is tracked; an agent makes a handful. */
const artifactsMax = 1000;
const dataCharactersMax = 64 * 1024;

/** Progress of the remote task. */
export type TaskProgress =
  | { readonly kind: 'working' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'asking'; readonly question: string; readonly mark: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Translates the messages of a remote agent into events, and tracks what was emitted so that nothing is repeated. */
export class MessageTranslator {
  readonly #answered: string | undefined;
  /** Characters emitted of each artifact's text. */
  readonly #lengths: Map<string, number>;
  #hasText = false;
  readonly #returned = new ReturnedData();
  context = '';
  task: string | undefined;
  progress: TaskProgress = { kind: 'working' };

  /** `before` holds what an earlier leg of the task emitted and the question it asked: neither is emitted again. */
  constructor(before?: Pick<Waiting, 'asked' | 'told'> & { readonly hasText?: boolean }) {
    this.#answered = before?.asked;
    this.#lengths = new Map(Object.entries(before?.told ?? {}));
    this.#hasText = before?.hasText === true;
  }

  /** The data that the remote agent has returned so far. */
  get output(): Json | undefined {
    return this.#returned.output;
  }

  get hasText(): boolean {
    return this.#hasText;
  }

  /** The question that was answered before. */
  get answered(): string {
    return this.#answered ?? '';
  }

  get emittedLengths(): Waiting['told'] {
    return Object.fromEntries(this.#lengths);
  }

  translate({ payload }: StreamResponse): readonly HarnessEvent[] {
    switch (payload?.$case) {
      case 'message':
        this.context = payload.value.contextId || this.context;
        this.progress = { kind: 'completed' };
        this.#returned.takeMessage(payload.value.parts);
        return this.#partEvents(payload.value.parts);
      case 'task': {
        const { id, contextId, artifacts, status } = payload.value;
        [this.task, this.context] = [id, contextId];
        const events = artifacts.flatMap((artifact) => this.#onArtifact(artifact));
        return [...events, ...this.#onStatus(status)];
      }
      case 'artifactUpdate': {
        const { taskId, contextId, artifact, append } = payload.value;
        [this.task, this.context] = [taskId, contextId];
        return artifact === undefined ? [] : this.#onArtifactUpdate(artifact, append);
      }
      case 'statusUpdate': {
        const { taskId, contextId, status } = payload.value;
        [this.task, this.context] = [taskId, contextId];
        return this.#onStatus(status);
      }
      case undefined:
        return [];
    }
  }

  #onStatus(status: TaskStatus | undefined): readonly HarnessEvent[] {
    const parts = status?.message?.parts ?? [];
    const text = textOf(parts);
    const progress = progressOf(status, text);
    const isOld = progress.kind === 'asking' && progress.mark === this.#answered;
    this.progress = isOld ? { kind: 'working' } : progress;
    if (isOld) return [];
    // Some agents send their whole answer with the final status.
    if (this.progress.kind === 'completed') this.#returned.takeMessage(parts);
    if (this.progress.kind === 'completed') return this.#hasText ? [] : this.#partEvents(parts);
    if (this.progress.kind !== 'working' || text === '') return [];
    return [{ type: 'custom', name: 'status', data: { text } }];
  }

  #onArtifactUpdate(artifact: Artifact, append: boolean): readonly HarnessEvent[] {
    // The whole artifact again, as it is now: its beginning was said.
    if (!append && this.#lengths.has(artifact.artifactId)) return this.#onArtifact(artifact);
    this.#returned.takeArtifact(artifact, append ? 'append' : 'whole');
    const before = append ? (this.#lengths.get(artifact.artifactId) ?? 0) : 0;
    this.#rememberLength(artifact.artifactId, before + textOf(artifact.parts).length);
    return this.#partEvents(artifact.parts);
  }

  /** Handles a complete artifact whose beginning may have been emitted already. */
  #onArtifact(artifact: Artifact): readonly HarnessEvent[] {
    this.#returned.takeArtifact(artifact, 'whole');
    const emitted = this.#lengths.get(artifact.artifactId);
    const text = textOf(artifact.parts);
    this.#rememberLength(artifact.artifactId, text.length);
    if (emitted === undefined) return this.#partEvents(artifact.parts);
    return this.#delta(text.slice(emitted));
  }

  #rememberLength(artifactId: string, length: number): void {
    if (this.#lengths.size < artifactsMax) this.#lengths.set(artifactId, length);
  }

  #partEvents(parts: readonly Part[]): readonly HarnessEvent[] {
    const others = parts.flatMap((part): HarnessEvent[] => {
      const data = dataOf(part);
      return data === undefined ? [] : [{ type: 'custom', name: 'part', data }];
    });
    return [...this.#delta(textOf(parts)), ...others];
  }

  #delta(text: string): readonly HarnessEvent[] {
    if (text === '') return [];
    this.#hasText = true;
    return [{ type: 'message_delta', text: text.toWellFormed() }];
  }
}

function progressOf(status: TaskStatus | undefined, text: string): TaskProgress {
  const state = status?.state;
  switch (state) {
    case TaskState.TASK_STATE_COMPLETED:
      return { kind: 'completed' };
    case TaskState.TASK_STATE_CANCELED:
      return { kind: 'cancelled' };
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return {
        kind: 'asking',
        question: text || 'The agent needs more input.',
        mark: `${status?.message?.messageId ?? ''}/${status?.timestamp ?? ''}/${text.length}`,
      };
    case TaskState.TASK_STATE_FAILED:
      return { kind: 'failed', reason: text || 'it did not say why' };
    case TaskState.TASK_STATE_REJECTED:
      return { kind: 'failed', reason: `it rejected the task. ${text}`.trim() };
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return { kind: 'failed', reason: `it requires authentication. ${text}`.trim() };
    case TaskState.TASK_STATE_UNSPECIFIED:
    case TaskState.TASK_STATE_SUBMITTED:
    case TaskState.TASK_STATE_WORKING:
    case TaskState.UNRECOGNIZED:
    case undefined:
      return { kind: 'working' };
    default:
      return state satisfies never;
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** Content of a part that is not text: data as it is, a file by its name and URL, without its bytes. */
function dataOf({ content, filename, mediaType }: Part): JsonObject | undefined {
  if (content === undefined || content.$case === 'text') return undefined;
  const about = {
    ...(filename !== '' && { filename }),
    ...(mediaType !== '' && { media_type: mediaType }),
  };
  if (content.$case === 'url') return { ...about, url: content.value };
  if (content.$case === 'raw') return { ...about, size_bytes: content.value.length };
  const { data } = parsedJson.safeParse(content.value);
  const isFit = data !== undefined && isShort(data, dataCharactersMax);
  return isFit ? { ...about, data } : { ...about, data_dropped: true };
}
