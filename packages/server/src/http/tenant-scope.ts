import type { AnyCaller } from '../auth/gate.ts';
import type { ApplicationCaller, HumanCaller } from '../domain/access.ts';
import type { Store } from '../ports/store.ts';
import type { Handlers, RawReply } from './handler.ts';

type AnyHandler = (call: {
  readonly caller: ApplicationCaller | HumanCaller | AnyCaller | undefined;
}) => Promise<object> | object;

/**
 * Returns the same handlers, each call of which runs in the scope of the tenant that the gate admitted its caller to,
 * until the last byte of a stream is written. People manage organizations and have no tenant.
 */
export function scopeToTenant(handlers: Handlers, store: Pick<Store, 'inTenantScope'>): Handlers {
  const scoped =
    (handler: AnyHandler): AnyHandler =>
    async (call) => {
      const { caller } = call;
      if (caller === undefined || !('scope' in caller)) return handler(call);
      const { tenantId } = caller.scope;
      const reply = await store.inTenantScope(tenantId, () => handler(call));
      if (!isRaw(reply)) return reply;
      const write: RawReply['write'] = (response, headers) =>
        store.inTenantScope(tenantId, () => reply.write(response, headers));
      return { write };
    };
  // As in the router: the composition of the handlers checked their types.
  const all = handlers as unknown as Readonly<Record<string, AnyHandler>>;
  const entries = Object.entries(all).map(([id, handler]) => [id, scoped(handler)]);
  return Object.fromEntries(entries) as Handlers;
}

function isRaw(reply: object): reply is RawReply {
  return 'write' in reply;
}
