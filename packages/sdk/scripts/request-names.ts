/** Bodies of methods that are written by hand; the others are those of the generated methods. */
export const handWrittenBodies: readonly string[] = [
  'stop_session',
  'create_session_token',
  'cancel_run',
  'signal_run',
  'update_run',
  'put_feedback',
  'put_session_connection',
  'begin_connection',
  'update_session',
  'prepare_file',
  'create_schedule',
  'update_client',
];
/** Queries that have a type of their own; the others have that of a page. */
export const queryNames: Readonly<Record<string, string>> = {
  list_audit: 'AuditQuery',
  list_agents: 'AgentsQuery',
  list_workspaces: 'PageQuery',
  list_sessions: 'SessionsQuery',
  list_runs: 'RunsQuery',
  list_interactions: 'InteractionsQuery',
  list_schedules: 'SchedulesQuery',
  list_deliveries: 'DeliveriesQuery',
  list_connections: 'ConnectionsQuery',
  delete_connection: 'ConnectionOwner',
  follow_run_events: 'EventsQuery',
  follow_tenant_events: 'FeedQuery',
  read_usage: 'UsageQuery',
  read_organization_usage: 'OrganizationUsageQuery',
  list_tenant_runs: 'TenantRunsQuery',
  list_tenant_interactions: 'TenantInteractionsQuery',
};
