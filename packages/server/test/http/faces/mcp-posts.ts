// Messages of MCP as they are written, in both eras, and how to post them.
import type { Json } from '@convoke/contract';
import type { TestServer } from '../../support/server.ts';

interface RawMessage {
  readonly id?: Json;
  readonly result?: Readonly<Record<string, Json>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** Where the tenant of the server's own client is served. */
export function placeOf({ quickstart: { organization_id, tenant_id } }: TestServer) {
  return { organization_id, tenant_id };
}

export interface Sent {
  readonly headers?: Record<string, string>;
  readonly as?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
}

export async function postTo(
  server: TestServer,
  body: unknown,
  { headers = {}, params = {}, query = '', as }: Sent = {},
) {
  const { organization_id, tenant_id } = { ...placeOf(server), ...params };
  const path = `/v1/mcp/${organization_id}/${tenant_id}${query}`;
  const answer = await server.call('POST', path, { body, headers, ...(as && { as }) });
  const message = answer.text === '' ? undefined : (JSON.parse(answer.text) as RawMessage);
  return { ...answer, message };
}

export const old = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 7, method, params });

export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export const recent = (method: string, params: object = {}, meta: object = envelope) =>
  old(method, { ...params, _meta: meta });

export const headersOf = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});
