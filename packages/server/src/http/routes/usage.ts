import type { LabelGroup } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import { readUsage } from '../../app/usage/usage.ts';
import type {
  ReadTotals,
  UsageGroup,
  UsageRow,
} from '../../ports/repositories/usage/usage-totals.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { usageView } from '../views/usage.ts';

type UsageOperations = 'read_usage' | 'read_organization_usage';

interface UsageQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly bucket?: 'hour' | 'day' | undefined;
  readonly group_by?: UsageGroup | LabelGroup | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export function usageRoutes(
  services: Pick<Services, 'store' | 'clock' | 'prices'>,
  { cursors }: { readonly cursors: Cursors },
): Handlers<UsageOperations> {
  const read = async (of: ReadTotals['of'], query: UsageQuery) => {
    const { bucket, group_by: groupBy, limit, cursor } = query;
    const list = `usage:${JSON.stringify([of, query.from, query.to, bucket, groupBy])}`;
    const { items, next } = await cursors.page(
      list,
      { limit, cursor, order: 'asc' },
      {
        read: (page) =>
          readUsage(services, {
            of,
            from: timeOf(query.from),
            to: timeOf(query.to),
            bucket,
            groupBy,
            limit: page.limit,
            after: positionIn(page.after),
          }),
        idOf: positionOf,
      },
    );
    const { currency } = services.prices;
    const usage = items.map((row) => usageView(row, { groupBy, currency }));
    return { status: 200 as const, body: { usage, ...next } };
  };
  return {
    read_usage: ({ caller, query }) => read({ tenantId: caller.scope.tenantId }, query),
    read_organization_usage: ({ caller, query }) =>
      read({ organizationId: caller.organizationId }, query),
  };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function positionOf({ startsAt, group }: UsageRow): string {
  return `${startsAt}:${group}`;
}

/** The text is ours: the cursor carries a MAC. */
function positionIn(after: string | undefined): ReadTotals['after'] {
  if (after === undefined) return undefined;
  const colon = after.indexOf(':');
  return { startsAt: Number(after.slice(0, colon)), group: after.slice(colon + 1) };
}
