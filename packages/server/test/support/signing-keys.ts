import { loadMasterKey } from '../../src/auth/master-key.ts';
import { openAuthority } from '../../src/compose/authority.ts';
import type { TestServer } from './server.ts';

/** Rotates the signing key beside the server, as `convoke keys rotate` does: the server notices within a minute. */
export async function rotateSigningKey({ config, convoke }: TestServer): Promise<void> {
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const { keys } = await openAuthority(convoke.services, config, masterKey);
  await keys.rotate();
}
