import type { AnyCaller } from '../auth/gate.ts';
import type { AutomationCaller, HumanCaller } from '../domain/access.ts';
import type { Store } from '../ports/store.ts';
import type { Handlers, RawReply } from './handler.ts';

type AnyHandler = (call: {
  readonly caller: AutomationCaller | HumanCaller | AnyCaller | undefined;
}) => Promise<object> | object;

/**
 * The same handlers, each call of which is confined to the tenant its caller was let into, down to the last
 * byte of a stream. People manage organizations and are in no tenant.
 */
export function confined(handlers: Handlers, store: Pick<Store, 'inTenantScope'>): Handlers {
  const confining =
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
  // As for the router: the types were checked where the handlers were put together.
  const all = handlers as unknown as Readonly<Record<string, AnyHandler>>;
  const entries = Object.entries(all).map(([id, handler]) => [id, confining(handler)]);
  return Object.fromEntries(entries) as Handlers;
}

function isRaw(reply: object): reply is RawReply {
  return 'write' in reply;
}
