import { expect, test } from 'vitest';
import { type InlineStart, mayStartInline } from '../../src/domain/run/inline-start.ts';

const booleans = [false, true];
/** From none to one more than all, for an even and for an odd limit. */
const servers = [0, 1, 2, 3, 4, 5].map((used) => ({ used, limit: 4 }));
const tenants = [0, 1, 2, 3, 4].map((used) => ({ used, limit: 3 }));

function* everyStart(): Generator<InlineStart> {
  for (const canExecute of booleans)
    for (const isSingleServer of booleans)
      for (const mayRunsWait of booleans)
        for (const isTenantBelowHalf of [...booleans, undefined])
          for (const server of servers)
            for (const tenant of tenants)
              yield {
                canExecute,
                isSingleServer,
                mayRunsWait,
                isTenantBelowHalf,
                server,
                tenant,
              };
}

/** Whether others may need the slot: one waits here, or could on another server. */
const mayOvertake = (start: InlineStart) => start.mayRunsWait || !start.isSingleServer;

/** Each reason to leave a run to a worker. */
const reasons: Readonly<Record<string, (start: InlineStart) => boolean>> = {
  'this server cannot execute it': ({ canExecute }) => !canExecute,
  'every slot is used': ({ server }) => server.used >= server.limit,
  'the tenant uses its share': ({ tenant }) => tenant.used >= tenant.limit,
  'another run may need the slot': (start) =>
    mayOvertake(start) && start.server.used >= start.server.limit / 2,
  'another run may need the share': (start) =>
    mayOvertake(start) && start.tenant.used >= start.tenant.limit / 2,
  'other servers use the share': ({ isSingleServer, isTenantBelowHalf }) =>
    !isSingleServer && isTenantBelowHalf === false,
  'nothing was counted in a cluster': ({ isSingleServer, isTenantBelowHalf }) =>
    !isSingleServer && isTenantBelowHalf === undefined,
};

test('a run starts inline exactly when there is no reason to leave it to a worker', () => {
  const soleReasons = new Set<string>();
  let started = 0;
  for (const start of everyStart()) {
    const found = Object.keys(reasons).filter((name) => reasons[name]?.(start));
    expect({ ...start, starts: mayStartInline(start) }).toEqual({
      ...start,
      starts: found.length === 0,
    });
    if (found.length === 0) started += 1;
    if (found.length === 1) soleReasons.add(found[0] ?? '');
  }
  // No reason is there in vain, and runs do start.
  expect([...soleReasons].sort()).toEqual(Object.keys(reasons).sort());
  expect(started).toBeGreaterThan(0);
});

test('what other servers use is no matter where there are none', () => {
  for (const start of everyStart()) {
    if (!start.isSingleServer) continue;
    const uncounted = mayStartInline({ ...start, isTenantBelowHalf: undefined });
    expect(mayStartInline(start)).toBe(uncounted);
  }
});
