import type { Store } from '../../src/ports/store.ts';

/**
 * For `wrapStore`: the passes that expire sessions and interactions find nothing, as on a server whose passes are
 * late. What a request then does about an expired one, it does itself.
 */
export function withIdlePasses(store: Store): Store {
  const { sessions, interactions } = store.read;
  return replacing(store, {
    read: replacing(store.read, {
      sessions: replacing(sessions, { unusedSince: async () => [] }),
      interactions: replacing(interactions, { overdue: async () => [] }),
    }),
  });
}

/** `part` with some members replaced. Its own methods still run on `part`, whose private fields they may read. */
function replacing<Part extends object>(part: Part, members: Partial<Part>): Part {
  return new Proxy(part, {
    get(target, name) {
      if (name in members) return Reflect.get(members, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
