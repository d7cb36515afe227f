/**
 * Whether a run may start inline: in the transaction that made it ready, which inserted it or ended the run before it
 * in its session. Any other ready run waits until a worker claims it. Inline saves that worker's transaction.
 *
 * The invariant is that an inline start overtakes no run that waits. The dispatcher serves waiting runs fairly between
 * tenants, and an inline start is not in its order. So:
 *
 * - While a ready run may wait, inline starts use at most half of the server's slots and half of the tenant's share.
 *   The other half is left to the dispatcher, so a stream of new runs never keeps a waiting run from its slot.
 * - While none waits, an inline start may take the last free slot. Only a single server can know that: in a cluster,
 *   the runs that wait are in the database and other servers make them ready. There, half is the most.
 * - A tenant's share is for all servers together. A single server counts its own runs; in a cluster the transaction has
 *   to count them in the database. Only an insert does so, because it can send the count with its other statements. At
 *   the end of a run nothing is counted, so in a cluster the next run of the session waits for a worker.
 *
 * A server also has to be able to execute the run: it accepts runs and holds its leases, reads the session's
 * checkpoint, and does not have an earlier start of the same run in doubt.
 */
export function mayStartInline(start: InlineStart): boolean {
  const { isSingleServer, mayRunsWait, isTenantBelowHalf, server, tenant } = start;
  if (!start.canExecute) return false;
  if (needsTenantCount(start) && isTenantBelowHalf !== true) return false;
  const share = isSingleServer && !mayRunsWait ? 1 : 0.5;
  return isBelow(server, share) && isBelow(tenant, share);
}

/** Whether the runs of the tenant have to be counted in the database, because other servers execute some of them. */
export function needsTenantCount({ isSingleServer }: Pick<InlineStart, 'isSingleServer'>): boolean {
  return !isSingleServer;
}

/** A run that became ready, and the server that could start it. */
export interface InlineStart {
  readonly canExecute: boolean;
  readonly isSingleServer: boolean;
  /** Whether this server knows of a slot for which a ready run may wait. */
  readonly mayRunsWait: boolean;
  /** The runs that this server executes. */
  readonly server: Usage;
  /** Those of the tenant among them. */
  readonly tenant: Usage;
  /** Whether all servers together use less than half of the tenant's share; undefined when that was not counted. */
  readonly isTenantBelowHalf: boolean | undefined;
}

interface Usage {
  readonly used: number;
  readonly limit: number;
}

function isBelow({ used, limit }: Usage, share: number): boolean {
  return used < limit * share;
}
