import { deriveKey } from '../auth/master-key.ts';
import type { Config } from '../config/config.ts';
import { createLocalFanout } from '../fanout/local.ts';
import { openNatsFanout } from '../fanout/nats.ts';
import { openPostgresFanout } from '../fanout/postgres.ts';
import type { Fanout } from '../ports/fanout.ts';
import type { Log } from '../ports/log.ts';

export async function openFanout(
  { cluster: { wakeups }, databaseUrl = '' }: Pick<Config, 'cluster' | 'databaseUrl'>,
  { log, masterKey }: { readonly log: Log; readonly masterKey: Uint8Array },
): Promise<Fanout> {
  switch (wakeups.kind) {
    case 'local':
      return createLocalFanout();
    case 'postgres':
      return openPostgresFanout({ url: databaseUrl, log });
    case 'nats': {
      // The key is what the servers of one service have in common, and those of another have not.
      const namespace = deriveKey(masterKey, 'wake-ups').toString('hex').slice(0, 16);
      return openNatsFanout({ url: wakeups.url, namespace, log });
    }
    default:
      return wakeups satisfies never;
  }
}
