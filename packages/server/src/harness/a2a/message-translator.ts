import {
  type Artifact,
  type Part,
  type StreamResponse,
  type TaskStatus,
  TaskState,
} from '@a2a-js/sdk';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import type { HarnessEvent } from '../../ports/harness.ts';
import type { Waiting } from './state.ts';

/** Artifacts of one task whose text is followed; an agent makes a handful. */
const artifactsMax = 1000;
const dataCharactersMax = 64 * 1024;

/** How far the remote task has come. */
export type TaskProgress =
  | { readonly kind: 'working' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'asking'; readonly question: string; readonly mark: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** What a remote agent has told so far, so that nothing of it is told twice. */
export class MessageTranslator {
  readonly #answered: string | undefined;
  /** How much of each artifact's text was told. */
  readonly #lengths: Map<string, number>;
  #hasText = false;
  context = '';
  task: string | undefined;
  standing: TaskProgress = { kind: 'working' };

  /** What an earlier leg of the task told, and the question that was answered since: neither is news. */
  constructor(before?: Pick<Waiting, 'asked' | 'told'>) {
    this.#answered = before?.asked;
    this.#lengths = new Map(Object.entries(before?.told ?? {}));
  }

  get told(): Waiting['told'] {
    return Object.fromEntries(this.#lengths);
  }

  take({ payload }: StreamResponse): readonly HarnessEvent[] {
    switch (payload?.$case) {
      case 'message':
        this.context = payload.value.contextId || this.context;
        this.standing = { kind: 'completed' };
        return this.#say(payload.value.parts);
      case 'task': {
        const { id, contextId, artifacts, status } = payload.value;
        [this.task, this.context] = [id, contextId];
        const told = artifacts.flatMap((artifact) => this.#catchUp(artifact));
        return [...told, ...this.#stand(status)];
      }
      case 'artifactUpdate': {
        const { taskId, contextId, artifact, append } = payload.value;
        [this.task, this.context] = [taskId, contextId];
        return artifact === undefined ? [] : this.#grow(artifact, append);
      }
      case 'statusUpdate': {
        const { taskId, contextId, status } = payload.value;
        [this.task, this.context] = [taskId, contextId];
        return this.#stand(status);
      }
      case undefined:
        return [];
    }
  }

  #stand(status: TaskStatus | undefined): readonly HarnessEvent[] {
    const parts = status?.message?.parts ?? [];
    const words = textOf(parts);
    const standing = standingOf(status, words);
    const isOld = standing.kind === 'asking' && standing.mark === this.#answered;
    this.standing = isOld ? { kind: 'working' } : standing;
    if (isOld) return [];
    // Some agents give their answer with the end, and nothing before it.
    if (this.standing.kind === 'completed') return this.#hasText ? [] : this.#say(parts);
    if (this.standing.kind !== 'working' || words === '') return [];
    return [{ type: 'custom', name: 'status', data: { text: words } }];
  }

  #grow(artifact: Artifact, append: boolean): readonly HarnessEvent[] {
    const before = append ? (this.#lengths.get(artifact.artifactId) ?? 0) : 0;
    this.#note(artifact.artifactId, before + textOf(artifact.parts).length);
    return this.#say(artifact.parts);
  }

  /** An artifact as it stands now, of which the beginning may have been told. */
  #catchUp(artifact: Artifact): readonly HarnessEvent[] {
    const told = this.#lengths.get(artifact.artifactId);
    const text = textOf(artifact.parts);
    this.#note(artifact.artifactId, text.length);
    if (told === undefined) return this.#say(artifact.parts);
    return this.#delta(text.slice(told));
  }

  #note(artifactId: string, length: number): void {
    if (this.#lengths.size < artifactsMax) this.#lengths.set(artifactId, length);
  }

  #say(parts: readonly Part[]): readonly HarnessEvent[] {
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

function standingOf(status: TaskStatus | undefined, words: string): TaskProgress {
  const state = status?.state;
  switch (state) {
    case TaskState.TASK_STATE_COMPLETED:
      return { kind: 'completed' };
    case TaskState.TASK_STATE_CANCELED:
      return { kind: 'cancelled' };
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return {
        kind: 'asking',
        question: words || 'The agent needs more from you.',
        mark: `${status?.message?.messageId ?? ''}/${status?.timestamp ?? ''}/${words.length}`,
      };
    case TaskState.TASK_STATE_FAILED:
      return { kind: 'failed', reason: words || 'it did not say why' };
    case TaskState.TASK_STATE_REJECTED:
      return { kind: 'failed', reason: `it rejected the task. ${words}`.trim() };
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return { kind: 'failed', reason: `it wants authentication. ${words}`.trim() };
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

/** What a part holds beside text: data as it is, a file by its name and address; its bytes have no place in an event. */
function dataOf({ content, filename, mediaType }: Part): JsonObject | undefined {
  if (content === undefined || content.$case === 'text') return undefined;
  const about = {
    ...(filename !== '' && { filename }),
    ...(mediaType !== '' && { media_type: mediaType }),
  };
  if (content.$case === 'url') return { ...about, url: content.value };
  if (content.$case === 'raw') return { ...about, size_bytes: content.value.length };
  const value = z.json().safeParse(content.value);
  const isFit = value.success && JSON.stringify(value.data).length <= dataCharactersMax;
  return isFit ? { ...about, data: value.data } : { ...about, data_dropped: true };
}
