import { limits } from '../limits.ts';
import type { Operation, OperationResponse } from '../operation.ts';
import type { Header, MediaType, Response, Schema } from './document.ts';
import { exampleOf } from './examples.ts';
import { commonHeaders } from './headers.ts';
import type { SchemaWriter } from './schemas.ts';

export function successesOf(operation: Operation, writer: SchemaWriter): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(operation.responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, response]) => [status, describe(operation, response, writer)]),
  );
}

function describe(
  operation: Operation,
  response: OperationResponse,
  writer: SchemaWriter,
): Response {
  const content = contentOf(response, writer);
  return {
    description: response.description,
    headers: { ...commonHeaders(operation), ...namedHeaders(response.headers ?? {}) },
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}

function contentOf(response: OperationResponse, writer: SchemaWriter): Record<string, MediaType> {
  const content: Record<string, MediaType> = {};
  if (response.stream) content['text/event-stream'] = eventStream(response.stream, writer);
  if (response.schema) {
    const schema = writer.write(response.schema, 'output');
    content['application/json'] = { schema, example: exampleOf(schema, writer.components()) };
  }
  if (response.media === 'application/octet-stream') {
    content[response.media] = { schema: { type: 'string', format: 'binary' } };
  } else if (response.media) {
    content[response.media] = { schema: { type: 'string' } };
  }
  return content;
}

function eventStream(
  event: NonNullable<OperationResponse['stream']>,
  writer: SchemaWriter,
): MediaType {
  const schema = writer.write(event, 'output');
  const example = exampleOf(schema, writer.components());
  const line = `data: ${JSON.stringify(example)}`;
  if (typeof example === 'object' && example !== null && 'jsonrpc' in example) {
    const schemaOfText = { type: 'string', description: ofResponses } as const;
    return { schema: schemaOfText, example: line, 'x-event-schema': schema };
  }
  const isNumbered = typeof example === 'object' && example !== null && 'id' in example;
  return {
    schema: { type: 'string', description: isNumbered ? ofEvents : ofChunks },
    example: isNumbered ? frames(schema, writer) : `${line}\n\ndata: [DONE]`,
    'x-event-schema': schema,
  };
}

const ofEvents =
  'Server-sent events: first the line `retry: 2000`, then one frame per event with its id in `id:`, its ' +
  'type in `event:` and the event as JSON in one `data:` line. Comment lines keep the connection alive.';
const ofResponses =
  'Server-sent events: one `data:` line per response, which is JSON. Comment lines keep the connection alive.';
const ofChunks =
  'Server-sent events: one `data:` line per chunk, which is JSON, and `data: [DONE]` after the last one. ' +
  'Comment lines keep the connection alive.';

/**
 * Three frames of a run's stream, the first event, a piece of the answer and the terminal event; one of another stream.
 */
function frames(event: Schema, writer: SchemaWriter): string {
  const example = exampleOf(event, writer.components());
  const envelope: Record<string, unknown> = typeof example === 'object' ? { ...example } : {};
  const run = { run_id: 'run_01ja3w8z5kq4v7m2x9c6t1r8en' };
  const frame = (id: string, type: string, more: object) =>
    `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ ...envelope, id, type, ...more })}`;
  const retry = `retry: ${limits.streamRetryMs}\n`;
  const { id, type } = envelope;
  if (type !== 'message_delta') return `${retry}${frame(String(id), String(type), {})}`;
  const sent = [
    frame('000000000001', 'run_started', { data: run }),
    frame('000000000002', 'message_delta', {}),
    frame('000000000003', 'run_completed', { data: run }),
  ];
  return retry + sent.join('\n\n');
}

function namedHeaders(headers: Readonly<Record<string, string>>): Record<string, Header> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}
