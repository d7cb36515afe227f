import { organizationIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { organizationUsageGroups, usageGroups, usageList, usageQuery } from '../resources/usage.ts';

const bounds =
  `At most ${limits.usageDaysMax} days, ${limits.usageHoursDaysMax} with \`bucket=hour\`. ` +
  'Rows are in the order of time, then of the group. The newest reports appear after about a second.';

const byDay =
  'By session and by label, each row is for a day; runs without the label are in none of its rows.';

export const readUsage = defineOperation({
  id: 'read_usage',
  method: 'GET',
  path: '/v1/usage',
  tag: 'Usage',
  summary: 'Read the usage of the tenant',
  description: `Sums tokens, costs and runs. ${byDay} ${bounds}`,
  caller: 'automation',
  scope: 'usage:read',
  query: usageQuery(usageGroups),
  responses: { 200: { description: 'One page.', schema: usageList } },
  errors: [],
});

export const readOrganizationUsage = defineOperation({
  id: 'read_organization_usage',
  method: 'GET',
  path: '/v1/organizations/{organization_id}/usage',
  tag: 'Usage',
  summary: 'Read the usage of the organization',
  description: `Sums tokens, costs and runs over all tenants. ${byDay} ${bounds}`,
  caller: 'human',
  scope: { unscoped: 'Owners and admins are authorized by their role, not by scopes.' },
  params: { organization_id: organizationIdSchema },
  query: usageQuery(organizationUsageGroups),
  responses: { 200: { description: 'One page.', schema: usageList } },
  errors: [],
});
