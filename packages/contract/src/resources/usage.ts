import { z } from 'zod';
import { limits } from '../limits.ts';
import { labelKeyPattern } from './labels.ts';
import { moment, nextCursor, pageQuery, timestamp } from './page.ts';

/** D-130: what usage can be grouped by. People can also group by tenant. */
export const usageGroups = ['agent', 'model', 'client', 'session'] as const;
export const organizationUsageGroups = ['agent', 'model', 'client', 'tenant'] as const;
export const usageBuckets = ['hour', 'day'] as const;

/** D-255: the values of a label, with its key. */
export type LabelGroup = `label:${string}`;
const labelGroup = z.templateLiteral(['label:', z.string().regex(labelKeyPattern)]);

export function isLabelGroup(group: string): group is LabelGroup {
  return group.startsWith('label:');
}

export function labelKeyOf(group: LabelGroup): string {
  return group.slice('label:'.length);
}

const count = z.int().min(0);
const counted = (description: string) => count.meta({ description }).optional();

export const usageRecord = z
  .object({
    start: timestamp
      .meta({ description: 'Start of the hour or day, in UTC. Present with `bucket`.' })
      .optional(),
    group: z
      .string()
      .meta({
        description:
          'Present with `group_by`. Empty for runs that no client started. Of a label, its value.',
      })
      .optional(),
    runs: counted('Runs that ended. This and the next four are absent when grouped by model.'),
    completed: counted('Runs that completed.'),
    failed: counted('Runs that failed.'),
    cancelled: counted('Runs that were cancelled.'),
    run_seconds: counted('Time from start to end of these runs, waiting for people included.'),
    input_tokens: count.meta({ description: 'Including tokens read from a cache.' }),
    output_tokens: count.meta({ description: 'Including reasoning tokens.' }),
    cached_input_tokens: count,
    reasoning_tokens: count,
    cost: count
      .meta({ description: 'In millionths of `currency`. Absent if nothing has a price.' })
      .optional(),
    currency: z
      .string()
      .meta({ description: 'ISO 4217.', examples: ['USD'] })
      .optional(),
  })
  .meta({ id: 'Usage', description: 'Tokens, costs and runs of one time range and group.' });

export type UsageRecord = z.infer<typeof usageRecord>;

export const usageList = z.object({
  usage: z.array(usageRecord),
  next_cursor: nextCursor,
});

export function usageQuery<const Groups extends readonly [string, ...string[]]>(groups: Groups) {
  return z.strictObject({
    from: moment
      .meta({
        description: `Start of the range, rounded down to the hour or day. Default: ${limits.usageDefaultDays} days before \`to\`.`,
      })
      .optional(),
    to: moment.meta({ description: 'End of the range. Default: now.' }).optional(),
    bucket: z
      .enum(usageBuckets)
      .meta({ description: 'One row per hour or day. Without it, one row for the whole range.' })
      .optional(),
    group_by: z
      .union([z.enum(groups), labelGroup], {
        error: `must be ${groups.join(', ')} or label:<key>`,
      })
      .meta({ description: 'One row per value, or per value of a label.' })
      .optional(),
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
  });
}
