import type { Operation, OperationResponse } from '../operation.ts';
import type { Header, MediaType, Response } from './document.ts';
import { commonHeaders } from './headers.ts';
import type { SchemaWriter } from './schemas.ts';

export function successesOf(operation: Operation, writer: SchemaWriter): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, response]) => [
      status,
      describe(operation, response, writer),
    ]),
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
    content['application/json'] = { schema: writer.write(response.schema, 'output') };
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
  return {
    schema: {
      type: 'string',
      description:
        'Server-sent events: first `retry: 2000`, then one frame per event with its id in `id:`, its ' +
        'type in `event:` and the event as JSON in one `data:` line. Comment lines keep the connection alive.',
    },
    'x-event-schema': writer.write(event, 'output'),
  };
}

function namedHeaders(headers: Readonly<Record<string, string>>): Record<string, Header> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}
