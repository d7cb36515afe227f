/** What each role may do, in words. */
export const roleMeanings: Readonly<Record<string, string>> = {
  owner: 'Manage the organization, run agents, answer requests',
  admin: 'Manage the organization, run agents, answer requests',
  operator: 'Run agents, answer requests',
  viewer: 'Read only',
  member: 'No access to tenants',
};
