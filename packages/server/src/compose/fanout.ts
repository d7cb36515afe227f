import { deriveKey } from '../auth/master-key.ts';
import type { Config } from '../config/config.ts';
import { createLocalFanout } from '../fanout/local.ts';
import type { Fanout } from '../ports/fanout.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';

interface FanoutParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly masterKey: Uint8Array;
}

export async function openFanout(
  { cluster: { wakeups }, databaseUrl = '' }: Pick<Config, 'cluster' | 'databaseUrl'>,
  { log, metrics, masterKey }: FanoutParts,
): Promise<Fanout> {
  const onLag = (seconds: number) => metrics.wakeupLag.observe(seconds);
  switch (wakeups.kind) {
    case 'local':
      return createLocalFanout();
    case 'postgres': {
      const { openPostgresFanout } = await import('../fanout/postgres.ts');
      return openPostgresFanout({ url: databaseUrl, log, onLag });
    }
    case 'nats': {
      const { openNatsFanout } = await import('../fanout/nats.ts');
      // The servers of one service share the key, and no other service has it.
      const namespace = deriveKey(masterKey, 'wake-ups').toString('hex').slice(0, 16);
      return openNatsFanout({ url: wakeups.url, namespace, log, onLag });
    }
    default:
      return wakeups satisfies never;
  }
}
