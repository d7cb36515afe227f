import type { Redact } from '../agents/secret-references.ts';
import { type Json, type JsonObject, isObject } from '../domain/json.ts';
import type { HarnessEvent } from '../ports/harness.ts';

/**
 * Removes secrets from an event. An agent that is a program has its key in its environment, and so have the commands
 * it starts: any of them may print it.
 */
export function redactedEvent(event: HarnessEvent, redact: (text: string) => string): HarnessEvent {
  switch (event.type) {
    case 'message_delta':
      return { ...event, text: redact(event.text.toWellFormed()) };
    case 'custom':
      return { ...event, data: redactedJson(event.data, redact) };
    case 'permission_request':
      return {
        ...event,
        toolInput: redactedJson(event.toolInput, redact),
        ...(event.toolCallId !== undefined && { toolCallId: redact(event.toolCallId) }),
      };
    case 'user_question':
      return {
        ...event,
        question: redact(event.question),
        ...(event.options && {
          options: event.options.map(({ label, description }) => ({
            label: redact(label),
            ...(description !== undefined && { description: redact(description) }),
          })),
        }),
      };
    case 'end':
      if (event.outcome === 'error') return { ...event, message: redact(event.message) };
      if (event.outcome !== 'completed' || event.output === undefined) return event;
      return { ...event, output: redactedJson(event.output, redact) };
    case 'checkpoint':
    case 'usage':
    case 'wait':
      return event;
    default:
      return event satisfies never;
  }
}

/**
 * Removes secrets from streamed text. A secret may be split over two deltas, so the end of a delta that could be the
 * beginning of a secret is held back until the next delta, or until any other event.
 */
export async function* redactedSpeech(
  events: AsyncIterable<HarnessEvent>,
  redact: () => Redact,
): AsyncGenerator<HarnessEvent, void> {
  let held: Delta | undefined;
  for await (const event of events) {
    if (event.type !== 'message_delta') {
      if (held !== undefined) yield held;
      held = undefined;
      yield event;
      continue;
    }
    const text = redact()(`${held?.text ?? ''}${event.text}`);
    const sure = text.length - redact().unsure(text);
    held = sure < text.length ? { ...event, text: text.slice(sure) } : undefined;
    if (sure > 0) yield { ...event, text: text.slice(0, sure) };
  }
}

type Delta = Extract<HarnessEvent, { type: 'message_delta' }>;

/**
 * Removes secrets from every text of a value, names of members included; a number that contains one becomes text. Does
 * not go through JSON: a secret may consist of digits, and without it the rest would not be JSON any longer.
 */
export function redactedJson(value: JsonObject, redact: (text: string) => string): JsonObject;
export function redactedJson(value: Json, redact: (text: string) => string): Json;
export function redactedJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') {
    const clean = redact(String(value));
    return clean === String(value) ? value : clean;
  }
  if (Array.isArray(value)) return value.map((each: Json) => redactedJson(each, redact));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each = null]) => [redact(name), redactedJson(each, redact)]),
  );
}
