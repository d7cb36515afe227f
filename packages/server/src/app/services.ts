import type { Prices } from '../domain/usage/prices.ts';
import type { Agents } from '../ports/agents.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Callbacks } from '../ports/callbacks.ts';
import type { Clock } from '../ports/clock.ts';
import type { Fanout } from '../ports/fanout.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { RateLimit } from '../ports/rate-limit.ts';
import type { RunSlots } from '../ports/run-slots.ts';
import type { SessionFolders } from '../ports/session-folders.ts';
import type { Settings } from '../ports/settings.ts';
import type { Store } from '../ports/store.ts';
import type { Traces } from '../ports/traces.ts';
import type { ConnectLinks } from '../ports/connections/connect-links.ts';
import type { ConnectionSecrets } from '../ports/connections/secrets.ts';
import type { ServiceDiscovery } from '../ports/connections/service-discovery.ts';
import type { TokenEndpoints } from '../ports/connections/token-endpoints.ts';
import type { TokenRequests } from './connections/token-requests.ts';
import type { KnownRules } from './rules/known-rules.ts';

/** Dependencies of the use cases. Each names those that it needs: `Pick<Services, 'store' | 'clock'>` (D-810). */
export interface Services {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly agents: Agents;
  readonly fanout: Fanout;
  readonly blobs: Blobs;
  readonly sessionFolders: SessionFolders;
  readonly settings: Settings;
  readonly prices: Prices;
  readonly knownRules: KnownRules;
  readonly callbacks: Callbacks;
  readonly connectionSecrets: ConnectionSecrets;
  readonly connectLinks: ConnectLinks;
  readonly tokenEndpoints: TokenEndpoints;
  readonly serviceDiscovery: ServiceDiscovery;
  readonly tokenRequests: TokenRequests;
  /** How many decisions about calls an organization's audit log takes from this server (D-524). */
  readonly auditedCalls: RateLimit;
  /**
   * Whether this is the only server on its database. Wake-ups do not tell: a server on PostgreSQL that sends them to
   * itself only (`CONVOKE_WAKEUPS=local`) still shares the database with any other that is started on it.
   */
  readonly isSingleServer: boolean;
  /** Absent where every run is queued, even one that could start at once. */
  readonly slots?: RunSlots | undefined;
}
