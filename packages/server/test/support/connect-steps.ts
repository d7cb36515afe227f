import { organizationId, tenantId } from '@convoke/contract';
import { expect } from 'vitest';
import { type AccountService, signInAt } from './account-service.ts';
import type { Identity } from './checked-calls.ts';
import { addClient, addTenant } from './identities.ts';
import type { TestServer } from './server.ts';

/** Steps of tests in which end users connect `github` by a link, with an agent that is named `connected` (D-606). */
export const product = 'https://product.test';
export const returnUrl = `${product}/connected?from=convoke`;

export interface Place {
  readonly as: Identity;
  readonly session_id: string;
}

interface Parts {
  readonly server: TestServer;
  readonly service: AccountService;
}

/** Of parts that exist once the suite has begun. */
export function connectSteps(parts: () => Parts) {
  async function newTenant() {
    const { server } = parts();
    const tenant = await addTenant(server, 'Connected');
    const client = await addClient(server, {});
    const as = client.in(tenant);
    const scope = {
      organizationId: organizationId(server.quickstart.organization_id),
      tenantId: tenantId(tenant),
    };
    const open = async (end_user = 'u-17') => {
      const body = { agent_name: 'connected', end_user };
      return (await server.send('create_session', { as, body })).body.id;
    };
    return { as, scope, open, session_id: await open() };
  }
  type Tenant = Awaited<ReturnType<typeof newTenant>>;

  const begin = async ({ as, session_id }: Place, return_url = returnUrl) => {
    const params = { session_id, service: 'github' };
    const call = { as, params, body: { return_url } };
    return (await parts().server.send('begin_connection', call)).body;
  };
  const signIn = async (place: Place, form: Readonly<Record<string, string>> = { name: 'ann' }) =>
    signInAt(parts().service, (await begin(place)).connect_url, form);
  /** What the server answers to a browser that a service has sent back. */
  const callback = async (url: URL) => {
    const answer = await fetch(url, { redirect: 'manual' });
    const location = answer.headers.get('location');
    const query = new URL(location ?? url).searchParams;
    return { status: answer.status, page: await answer.text(), location, query };
  };
  const ticketOf = async (place: Place) =>
    (await callback(await signIn(place))).query.get('ticket') ?? '';
  const finish = ({ as, session_id }: Place, ticket: string) => {
    const params = { session_id, service: 'github' };
    return { as, params, body: { ticket } };
  };
  const connected = async (place: Place, ticket: string) =>
    (await parts().server.send('put_session_connection', finish(place, ticket))).body;
  const refused = async (place: Place, ticket: string) => {
    const call = finish(place, ticket);
    const { status, error } = await parts().server.refused('put_session_connection', call);
    return [status, error];
  };
  const allOf = async ({ as }: Place) =>
    (await parts().server.send('list_connections', { as })).body.connections;
  const rowOf = ({ scope }: Tenant) =>
    parts().server.convoke.services.store.read.connections.find(scope, {
      service: 'github',
      endUser: 'u-17',
    });
  const secretOf = async (place: Tenant) => {
    const row = await rowOf(place);
    return row && parts().server.convoke.services.connectionSecrets.open(row);
  };
  return {
    newTenant,
    begin,
    signIn,
    callback,
    ticketOf,
    finish,
    connected,
    refused,
    allOf,
    rowOf,
    secretOf,
  };
}

/** The page of a return that connects nothing. */
export const ended = { status: 400, page: expect.stringContaining('This link has ended') };
export const wrongTicket = [400, 'invalid_ticket'];

export function pathOf({ session_id }: { readonly session_id: string }): string {
  return `/v1/sessions/${session_id}/connections/github`;
}
