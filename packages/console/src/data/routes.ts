/** The addresses of the console: one table, read in both directions. Paths are below `/console`. */

/** Pattern of each screen. `:tenant` and `:org` choose where the screen looks. */
const patterns = {
  start: '/',
  home: '/t/:tenant',
  approvals: '/t/:tenant/approvals',
  runs: '/t/:tenant/runs',
  run: '/t/:tenant/runs/:run',
  sessions: '/t/:tenant/sessions',
  session: '/t/:tenant/sessions/:session',
  agents: '/t/:tenant/agents',
  agent: '/t/:tenant/agents/:agent',
  schedules: '/t/:tenant/schedules',
  schedule: '/t/:tenant/schedules/:schedule',
  webhooks: '/t/:tenant/webhooks',
  webhook: '/t/:tenant/webhooks/:webhook',
  connections: '/t/:tenant/connections',
  connect: '/t/:tenant/connect/:session/:service',
  usage: '/t/:tenant/usage',
  tenants: '/o/:org/tenants',
  clients: '/o/:org/clients',
  client: '/o/:org/clients/:client',
  members: '/o/:org/members',
  audit: '/o/:org/audit',
  budgets: '/o/:org/budgets',
  rules: '/o/:org/rules',
  settings: '/settings',
  join: '/join',
  callback: '/callback',
} as const;

export type ScreenName = keyof typeof patterns;
export type RouteParams = Readonly<Record<string, string>>;

export interface Place {
  readonly screen: ScreenName | 'unknown';
  readonly params: RouteParams;
  readonly query: URLSearchParams;
}

export const consoleRoot = '/console';

/** Where a path leads. An address that no pattern knows is `unknown`, never an exception. */
export function placeAt(pathname: string, search = ''): Place {
  const query = new URLSearchParams(search);
  const path = pathname.startsWith(consoleRoot) ? pathname.slice(consoleRoot.length) : pathname;
  const parts = path.split('/').filter((part) => part !== '');
  for (const [screen, pattern] of Object.entries(patterns)) {
    const params = matched(pattern, parts);
    if (params !== undefined) return { screen: screen as ScreenName, params, query };
  }
  return { screen: 'unknown', params: {}, query };
}

function matched(pattern: string, parts: readonly string[]): RouteParams | undefined {
  const wanted = pattern.split('/').filter((part) => part !== '');
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, want] of wanted.entries()) {
    const part = decoded(parts[index] ?? '');
    if (part === undefined) return undefined;
    if (want.startsWith(':')) params[want.slice(1)] = part;
    else if (want !== part) return undefined;
  }
  return params;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export type Query = Readonly<Record<string, string | undefined>>;

/** The address of a screen. Query fields that are undefined or empty are left out. */
export function addressOf(screen: ScreenName, params: RouteParams = {}, query: Query = {}): string {
  const path = patterns[screen].replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const fields = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const search = new URLSearchParams(fields).toString();
  return `${consoleRoot}${path}${search === '' ? '' : `?${search}`}`;
}

/**
 * A path that was kept over a sign-in, if it may be gone to. Only pages of the console: another path of this server
 * could be an answer that someone else prepared.
 */
export function safeReturn(kept: string | null): string {
  const fallback = `${consoleRoot}/`;
  if (kept === null || !kept.startsWith(fallback) || /[\\\u0000-\u001f]/.test(kept))
    return fallback;
  if (kept.includes('/..') || kept.startsWith(`${consoleRoot}/callback`)) return fallback;
  return kept;
}

const screensOfIds: Readonly<Record<string, { screen: ScreenName; param: string }>> = {
  run: { screen: 'run', param: 'run' },
  sess: { screen: 'session', param: 'session' },
  cli: { screen: 'client', param: 'client' },
  sch: { screen: 'schedule', param: 'schedule' },
  wh: { screen: 'webhook', param: 'webhook' },
  int: { screen: 'approvals', param: 'item' },
};

/** The screen that shows the thing with this id, by the id's prefix. */
export function placeOfId(id: string): { screen: ScreenName; param: string } | undefined {
  const prefix = /^([a-z]+)_[0-9a-z]{20,32}$/.exec(id.trim())?.[1];
  return screensOfIds[prefix ?? ''];
}
