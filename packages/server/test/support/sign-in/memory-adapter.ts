import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * What an identity provider of a test stores, in memory. The library has one of its own for a quick start, which prints
 * a warning.
 */
export function memoryAdapter(): (model: string) => Adapter {
  const stored = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const findBy = async (name: 'uid' | 'userCode', value: string) =>
      stored.entries().find(([key, one]) => key.startsWith(keyOf('')) && one[name] === value)?.[1];
    return {
      upsert: async (id, payload) => void stored.set(keyOf(id), payload),
      find: async (id) => stored.get(keyOf(id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (code) => findBy('userCode', code),
      destroy: async (id) => void stored.delete(keyOf(id)),
      consume: async (id) => {
        const payload = stored.get(keyOf(id));
        if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1000);
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      },
    };
  };
}
