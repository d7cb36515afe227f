import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { RouteParams, ScreenName } from '../data/routes.ts';

/** A screen gets the parameters of its address as properties. */
export type Screen = ComponentType<RouteParams>;

/** Each screen is a chunk of its own, loaded when it is opened. */
const loaders: Partial<Record<ScreenName, () => Promise<Screen>>> = {
  home: async () => (await import('../screens/home.tsx')).HomeScreen,
  approvals: async () => (await import('../screens/approvals/approvals.tsx')).ApprovalsScreen,
  runs: async () => (await import('../screens/runs/runs.tsx')).RunsScreen,
  run: async () => (await import('../screens/runs/run.tsx')).RunScreen,
  sessions: async () => (await import('../screens/sessions/sessions.tsx')).SessionsScreen,
  session: async () => (await import('../screens/sessions/session.tsx')).SessionScreen,
  agents: async () => (await import('../screens/agents.tsx')).AgentsScreen,
  agent: async () => (await import('../screens/agent.tsx')).AgentScreen,
  usage: async () => (await import('../screens/usage.tsx')).UsageScreen,
  schedules: async () => (await import('../screens/schedules.tsx')).SchedulesScreen,
  schedule: async () => (await import('../screens/schedule.tsx')).ScheduleScreen,
  connections: async () => (await import('../screens/connections.tsx')).ConnectionsScreen,
  connect: async () => (await import('../screens/connect-account.tsx')).ConnectAccountScreen,
  tenants: async () => (await import('../screens/organization/tenants.tsx')).TenantsScreen,
  clients: async () => (await import('../screens/organization/clients.tsx')).ClientsScreen,
  client: async () => (await import('../screens/organization/client.tsx')).ClientScreen,
  members: async () => (await import('../screens/organization/members.tsx')).MembersScreen,
  audit: async () => (await import('../screens/organization/audit.tsx')).AuditScreen,
  budgets: async () => (await import('../screens/organization/budgets.tsx')).BudgetsScreen,
  rules: async () => (await import('../screens/organization/rules.tsx')).RulesScreen,
  webhooks: async () => (await import('../screens/webhooks.tsx')).WebhooksScreen,
  webhook: async () => (await import('../screens/webhook.tsx')).WebhookScreen,
  join: async () => (await import('../screens/join.tsx')).JoinScreen,
  settings: async () => (await import('../screens/settings.tsx')).SettingsScreen,
};

export type LoadedScreen = Screen | 'loading' | 'unknown' | { readonly error: unknown };

const loaded = signal<ReadonlyMap<string, Screen | { readonly error: unknown }>>(new Map());
const asked = new Set<string>();

/** The screen of this name, if it is loaded; otherwise it is being loaded now. */
export function screenOf(name: ScreenName | 'unknown'): LoadedScreen {
  const load = name === 'unknown' ? undefined : loaders[name];
  if (load === undefined) return 'unknown';
  const known = loaded.value.get(name);
  if (known !== undefined) return known;
  if (!asked.has(name)) {
    asked.add(name);
    load().then(
      (screen) => put(name, screen),
      (error: unknown) => put(name, { error }),
    );
  }
  return 'loading';
}

/**
 * For a screen that could not be loaded. After a new version of the server the old chunks are gone, and a browser
 * remembers a chunk that failed, so the whole page is loaded again; only if the server answers, because the page would
 * be lost.
 */
export async function loadPageAgain(): Promise<void> {
  const isThere = await fetch(location.pathname, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isThere) location.reload();
}

function put(name: string, screen: Screen | { readonly error: unknown }): void {
  loaded.value = new Map([...loaded.value, [name, screen]]);
}
