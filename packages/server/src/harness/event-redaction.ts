import type { Json } from '../domain/json.ts';
import type { HarnessEvent } from '../ports/harness.ts';

/**
 * An agent that is a program has its key in its environment, and so has whatever it starts: a command may print
 * it. What is told of that must not hold it.
 */
export function redactedEvent(event: HarnessEvent, redact: (text: string) => string): HarnessEvent {
  switch (event.type) {
    case 'message_delta':
      return { ...event, text: redact(event.text.toWellFormed()) };
    case 'custom':
      return { ...event, data: redactedJson(event.data, redact) };
    case 'permission_request':
      return { ...event, toolInput: redactedJson(event.toolInput, redact) };
    case 'user_question':
      return { ...event, question: redact(event.question) };
    case 'end':
      return event.outcome === 'error' ? { ...event, message: redact(event.message) } : event;
    case 'checkpoint':
    case 'usage':
      return event;
    default:
      return event satisfies never;
  }
}

/** A redactor knows secrets as JSON writes them, so what it leaves is JSON of the same shape. */
export function redactedJson<Value extends Json>(
  value: Value,
  redact: (text: string) => string,
): Value {
  const text = JSON.stringify(value);
  const clean = redact(text);
  return clean === text ? value : (JSON.parse(clean) as Value);
}
