import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { loadMasterKey } from '../auth/master-key.ts';
import { openAuthority } from '../compose/authority.ts';
import { openClock, openStore } from '../compose/database.ts';
import type { Config } from '../config/config.ts';
import { publishedAddress } from '../runtime/data-folder.ts';
import { createIds } from '../runtime/ids.ts';
import { createLog } from '../telemetry/log.ts';
import { type Operator, createOperator } from './operator.ts';

/** Time to wait for a server that holds the write lock. */
const busyTimeoutMs = 10_000;

/** Opens the database of the deployment; servers may keep running. */
export async function openOperator(config: Config): Promise<Operator> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const log = createLog(config.log);
  const masterKey = await loadMasterKey(config.cluster.masterKeyFile);
  const store = await openStore(config, { log, masterKey, busyTimeoutMs, poolSize: 2 });
  // The servers' clock: when a token ends is compared with when the servers issued it.
  const clock = await openClock(config, { store, log });
  const services = { store, clock, ids: createIds(clock), log };
  // Tokens name the server's address, which the environment of this command may not know.
  const baseUrl = config.givenBaseUrl ?? publishedAddress(config.dataDir) ?? config.baseUrl;
  const authority = await openAuthority(services, { ...config, baseUrl }, masterKey);
  const hasConsole = config.hasConsole && config.peopleIssuer === undefined;
  const { username: account } = userInfo();
  return createOperator({ ...services, ...authority, baseUrl, hasConsole, account });
}
