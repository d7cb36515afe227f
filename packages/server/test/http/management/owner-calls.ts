// Calls of an organization's owner, and of the clients that the owner creates, without checks of the answers.
import { expect } from 'vitest';
import type { Answer, CallOptions, TestServer } from '../../support/bare-server.ts';

let keys = 0;
/** An idempotency key that no other call has. */
export const key = () => ({ 'idempotency-key': `test-key-${(keys += 1)}` });
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** The calls on the server that `server` returns once it runs. */
export function ownerCalls(server: () => TestServer) {
  const asOwner = async (method: string, path: string, options: CallOptions = {}) => {
    const { organization_id: organization, owner_token: token } = server().quickstart;
    const address = `/v1/organizations/${organization}${path}`;
    return server().call(method, address, { token, ...options });
  };
  const exchange = async (id: string, secret: string, body = 'grant_type=client_credentials') =>
    server().call('POST', '/v1/oauth/token', {
      headers: { ...form, authorization: basic(id, secret) },
      body,
    });
  const tokenOf = async (id: string, secret: string): Promise<string> =>
    (await exchange(id, secret)).body.access_token;
  const createClient = async (change: object = {}, headers: Record<string, string> = key()) =>
    asOwner('POST', '/m2m', { headers, body: { name: 'Backend', profile: 'invoke', ...change } });
  return { asOwner, exchange, tokenOf, createClient };
}

/** The status and code of a refusal, after checking the fields that every refusal has. */
export function refusalIn(answer: Answer): string {
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return `${answer.status} ${answer.body.error}`;
}
