import { type Json, type JsonObject, isObject } from '../json.ts';

/** The messages of version 1.0 of the Agent2Agent protocol that this face sends. */
export type A2aState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_FAILED';

export type A2aPart = { readonly text: string } | { readonly data: Json };

export interface A2aMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly A2aPart[];
}

export interface A2aStatus {
  readonly state: A2aState;
  readonly timestamp?: string;
  readonly message?: A2aMessage;
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts: readonly A2aPart[];
}

export interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly history?: readonly A2aMessage[];
  readonly metadata?: JsonObject;
}

/** One response of a stream. */
export type A2aUpdate =
  | { readonly task: A2aTask }
  | {
      readonly statusUpdate: {
        readonly taskId: string;
        readonly contextId: string;
        readonly status: A2aStatus;
        readonly metadata?: JsonObject;
      };
    }
  | {
      readonly artifactUpdate: {
        readonly taskId: string;
        readonly contextId: string;
        readonly artifact: A2aArtifact;
        /** False if the text replaces the text that was sent before. */
        readonly append: boolean;
      };
    };

const legacyStates = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_FAILED: 'failed',
} as const satisfies Readonly<Record<A2aState, string>>;

/** The response as version 0.3 of the protocol writes it. */
export function legacyUpdate(update: A2aUpdate) {
  if ('task' in update) return legacyTask(update.task);
  if ('artifactUpdate' in update) {
    const { artifact, ...rest } = update.artifactUpdate;
    return { kind: 'artifact-update', ...rest, artifact: legacyArtifact(artifact) } as const;
  }
  const { status, ...rest } = update.statusUpdate;
  const { state } = status;
  const final = state !== 'TASK_STATE_SUBMITTED' && state !== 'TASK_STATE_WORKING';
  return { kind: 'status-update', ...rest, status: legacyStatus(status), final } as const;
}

export function legacyTask({ status, artifacts, history, ...rest }: A2aTask) {
  return {
    kind: 'task',
    ...rest,
    status: legacyStatus(status),
    ...(artifacts !== undefined && { artifacts: artifacts.map(legacyArtifact) }),
    ...(history !== undefined && { history: history.map(legacyMessage) }),
  } as const;
}

function legacyStatus({ state, message, ...rest }: A2aStatus) {
  return {
    ...rest,
    state: legacyStates[state],
    ...(message !== undefined && { message: legacyMessage(message) }),
  };
}

function legacyMessage({ role, parts, ...rest }: A2aMessage) {
  return {
    kind: 'message',
    ...rest,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(legacyPart),
  } as const;
}

function legacyArtifact({ parts, ...rest }: A2aArtifact) {
  return { ...rest, parts: parts.map(legacyPart) };
}

function legacyPart(part: A2aPart) {
  return 'text' in part
    ? ({ kind: 'text', text: part.text } as const)
    : ({ kind: 'data', data: objectOf(part.data) } as const);
}

/** Data of version 0.3 is an object, so any other value is the member `value` of one. */
function objectOf(data: Json): { [member: string]: Json | undefined } {
  return isObject(data) ? { ...data } : { value: data };
}
