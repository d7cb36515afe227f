import type { ConnectionSecret } from '../domain/connections/connection.ts';
import type { ConnectionSecrets } from '../ports/connections/secrets.ts';
import { createSealing } from './sealing.ts';

/** The id and the version are authenticated: a sealed text fits no other row, and not this one after a change. */
export function createConnectionSecrets(key: Uint8Array): ConnectionSecrets {
  const sealing = createSealing(key);
  const nameOf = (id: string, version: number) => `connection:${id}:${version}`;
  return {
    seal: ({ id, version }, secret) => sealing.seal(nameOf(id, version), JSON.stringify(secret)),
    open({ id, version, sealed }) {
      const text = sealing.unseal(nameOf(id, version), sealed);
      return text === undefined ? undefined : (JSON.parse(text) as ConnectionSecret);
    },
  };
}
