import { type JsonObject, limits } from '@convoke/contract';
import { z } from 'zod';
import { failCall } from '../../../app/faces/a2a/failure.ts';
import type { SentMessage } from '../../../app/faces/a2a/send.ts';

/** A message, and the form of its answer. */
export interface ReadMessage extends SentMessage {
  readonly isBlocking: boolean;
  /** Messages of the task that the answer shall contain. */
  readonly historyLength: number;
}

const partsMax = 200;
const object = z.record(z.string(), z.unknown());
/** Empty is absent, as the encoding of version 1.0 has it. */
const name = z
  .string()
  .max(limits.nameMaxCharacters)
  .nullish()
  .transform((value) => (value === '' || value === null ? undefined : value));
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish();

const messageId = new RegExp(`^[^\\u0000-\\u001f\\u007f]{1,${limits.nameMaxCharacters}}$`, 'u');

const sendParams = z.looseObject({
  message: z.looseObject({
    messageId: z
      .string()
      .regex(messageId, `must be 1 to ${limits.nameMaxCharacters} characters`)
      .refine((id) => id.isWellFormed(), 'must be valid Unicode'),
    role: z.enum(['ROLE_USER', 'user']),
    parts: z.array(object).min(1).max(partsMax),
    contextId: name,
    taskId: name,
  }),
  configuration: z
    .looseObject({
      blocking: z.boolean().nullish(),
      returnImmediately: z.boolean().nullish(),
      historyLength: count,
      pushNotificationConfig: z.unknown().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .nullish(),
});

/** Reads the parameters of `SendMessage` and `message/send`, which differ little. */
export function readMessage(params: unknown): ReadMessage {
  refuseLongMessage(params);
  const { message, configuration } = readParams(sendParams, params);
  const push =
    configuration?.pushNotificationConfig ?? configuration?.taskPushNotificationConfig ?? undefined;
  if (push !== undefined) refusePush();
  const texts: string[] = [];
  const data: JsonObject[] = [];
  for (const part of message.parts) {
    if (typeof part['text'] === 'string') texts.push(part['text']);
    else if (isObject(part['data'])) data.push(part['data']);
    else
      failCall('CONTENT_TYPE_NOT_SUPPORTED', 'A part must have text, or data that is an object.');
  }
  const { messageId: id, contextId, taskId } = message;
  return {
    id,
    contextId,
    taskId,
    text: texts.filter((text) => text !== '').join('\n\n'),
    data,
    isBlocking: configuration?.blocking !== false && configuration?.returnImmediately !== true,
    historyLength: configuration?.historyLength ?? 0,
  };
}

/** Before the schema, which would check every part before it finds that there are too many. */
function refuseLongMessage(params: unknown): void {
  const { message } = isObject(params) ? params : {};
  const { parts } = isObject(message) ? message : {};
  if (!Array.isArray(parts) || parts.length <= partsMax) return;
  failCall('INVALID_PARAMS', `params.message.parts: must have at most ${partsMax} elements.`);
}

const taskParams = z.looseObject({
  id: z.string().min(1).max(limits.nameMaxCharacters),
  historyLength: count,
});

export function readTaskParams(params: unknown) {
  const { id, historyLength } = readParams(taskParams, params);
  return { id, historyLength: historyLength ?? 1 };
}

const listParams = z.looseObject({
  contextId: name,
  status: name,
  pageSize: z.int().min(limits.pageMin).max(limits.pageMax).nullish(),
  pageToken: z
    .string()
    .max(limits.cursorMaxCharacters)
    .nullish()
    .transform((value) => (value === '' || value === null ? undefined : value)),
  historyLength: count,
  includeArtifacts: z.boolean().nullish(),
  statusTimestampAfter: z.unknown().optional(),
});

export function readListParams(params: unknown) {
  const read = readParams(listParams, params ?? {});
  if (read.statusTimestampAfter !== undefined && read.statusTimestampAfter !== null) {
    failCall('INVALID_PARAMS', 'statusTimestampAfter is not supported; filter by status.');
  }
  return {
    contextId: read.contextId,
    status: read.status,
    pageSize: read.pageSize ?? limits.pageDefault,
    pageToken: read.pageToken,
    hasHistory: (read.historyLength ?? 0) > 0,
    hasArtifacts: read.includeArtifacts === true,
  };
}

export function refusePush(): never {
  const message =
    'Push notifications are not supported. Use a Convoke webhook instead; deliveries are retried.';
  return failCall('PUSH_NOTIFICATION_NOT_SUPPORTED', message);
}

function readParams<Schema extends z.ZodType>(schema: Schema, params: unknown): z.infer<Schema> {
  const read = schema.safeParse(params);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = ['params', ...(issue?.path ?? [])].map(String).join('.');
  return failCall('INVALID_PARAMS', `${path}: ${issue?.message ?? 'is not valid'}.`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
