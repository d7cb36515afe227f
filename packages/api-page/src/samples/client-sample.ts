import { type Operation, operations } from '@convoke/contract';
import type { Call } from './call.ts';

/** How the samples of one client library are written. */
export interface ClientSamples {
  /** Renders a generated method. */
  readonly plain: (call: Call, operation: Operation) => string;
  /** Samples of the methods that are written by hand, by operation. */
  readonly calls: Readonly<Record<string, string | undefined>>;
  /** The lines that make the client which a sample uses. */
  readonly connections: { readonly convoke: string; readonly admin: string };
}

/** A sample that runs as it stands: the client, then the call. */
export function sampleOf(
  call: Call,
  { plain, calls, connections }: ClientSamples,
): string | undefined {
  const { operationId } = call.operation;
  const operation = Object.values(operations).find(({ id }) => id === operationId);
  const isGenerated = operation !== undefined && 'sdk' in operation;
  const text = isGenerated ? plain(call, operation) : calls[operationId];
  if (text === undefined || operationId === 'issue_token') return text;
  const connection = text.includes('admin.') ? connections.admin : connections.convoke;
  return `${connection}\n\n${text}`;
}
