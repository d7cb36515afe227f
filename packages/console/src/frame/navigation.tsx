import type { JSX } from 'preact';
import { type ScreenName, addressOf } from '../data/routes.ts';
import { Brand, Icon } from '../parts/icon.tsx';
import { MenuButton } from '../parts/menu.tsx';
import { getOverview } from '../session/api.ts';
import { useRefreshOnNotice } from '../session/live.ts';
import { session } from '../session/session.ts';
import type { TenantScope } from '../session/tenant-clients.ts';
import { useResource } from '../session/use.ts';
import { place } from '../page/router.ts';

interface Entry {
  readonly name: string;
  readonly screen: ScreenName;
  /** Screens below this one. */
  readonly also?: readonly ScreenName[];
}

export const tenantEntries: readonly Entry[] = [
  { name: 'Home', screen: 'home' },
  { name: 'Approvals', screen: 'approvals' },
  { name: 'Runs', screen: 'runs', also: ['run'] },
  { name: 'Sessions', screen: 'sessions', also: ['session'] },
  { name: 'Agents', screen: 'agents', also: ['agent'] },
  { name: 'Schedules', screen: 'schedules', also: ['schedule'] },
  { name: 'Webhooks', screen: 'webhooks', also: ['webhook'] },
  { name: 'Usage', screen: 'usage' },
];

export const organizationEntries: readonly Entry[] = [
  { name: 'Tenants', screen: 'tenants' },
  { name: 'Clients', screen: 'clients', also: ['client'] },
  { name: 'Members', screen: 'members' },
  { name: 'Budgets', screen: 'budgets' },
  { name: 'Audit', screen: 'audit' },
];

/** The entry of the navigation that a screen belongs to. */
export function sectionOf(screen: string): Entry | undefined {
  return [...tenantEntries, ...organizationEntries].find((entry) => isPartOf(entry, screen));
}

function isPartOf(entry: Entry, screen: string): boolean {
  return entry.screen === screen || entry.also?.some((name) => name === screen) === true;
}

const managing = new Set(['owner', 'admin']);

/** Whether the person manages the organization; others do not see its screens. */
export function manages(organizationId: string | undefined): boolean {
  const state = session.value;
  if (state.kind !== 'in') return false;
  return state.me.memberships.some(
    ({ organization_id: id, role }) => id === organizationId && managing.has(role),
  );
}

export function Navigation(props: {
  readonly scope: TenantScope | undefined;
  readonly organizationId: string | undefined;
  readonly isOpen: boolean;
}): JSX.Element {
  const { scope, organizationId, isOpen } = props;
  const state = session.value;
  const person = state.kind === 'in' ? (state.me.email ?? state.me.user_id) : '';
  return (
    <nav class={`sidebar ${isOpen ? 'open' : ''}`} aria-label="Console">
      <a class="brand" href={scope === undefined ? '/console/' : homeOf(scope)}>
        <Brand />
        Convoke
      </a>
      <Switcher scope={scope} />
      {scope !== undefined && (
        <ul>
          {tenantEntries.map((entry) => (
            <NavigationLink key={entry.screen} entry={entry} params={{ tenant: scope.tenantId }}>
              {entry.screen === 'approvals' ? <PendingCount scope={scope} /> : null}
            </NavigationLink>
          ))}
        </ul>
      )}
      {organizationId !== undefined && manages(organizationId) && (
        <>
          <h2>Organization</h2>
          <ul>
            {organizationEntries.map((entry) => (
              <NavigationLink key={entry.screen} entry={entry} params={{ org: organizationId }} />
            ))}
          </ul>
        </>
      )}
      <ul class="foot">
        <li>
          <a href="/docs">API reference</a>
        </li>
        <NavigationLink entry={{ name: 'Settings', screen: 'settings' }} params={{}}>
          <span class="muted small clip">{person}</span>
        </NavigationLink>
      </ul>
    </nav>
  );
}

function homeOf({ tenantId }: TenantScope): string {
  return addressOf('home', { tenant: tenantId });
}

function NavigationLink(props: {
  readonly entry: Entry;
  readonly params: Readonly<Record<string, string>>;
  readonly children?: JSX.Element | null;
}): JSX.Element {
  const { entry, params } = props;
  const { screen } = place.value;
  const isHere = isPartOf(entry, screen);
  return (
    <li>
      <a href={addressOf(entry.screen, params)} aria-current={isHere ? 'page' : undefined}>
        <span class="nowrap">{entry.name}</span>
        {props.children}
      </a>
    </li>
  );
}

/** How much waits for a person, live. */
function PendingCount({ scope }: { readonly scope: TenantScope }): JSX.Element | null {
  const overview = useResource(`${scope.tenantId}/overview`, () => getOverview(scope));
  useRefreshOnNotice(
    ({ type }) => type.startsWith('interaction_') || type.startsWith('run_'),
    () => overview.refresh(),
  );
  const count = overview.data.value?.pending_interactions ?? 0;
  if (count === 0) return null;
  return (
    <span class="count" aria-label={`${count} waiting`}>
      {count > 99 ? '99+' : count}
    </span>
  );
}

function Switcher({ scope }: { readonly scope: TenantScope | undefined }): JSX.Element | null {
  const state = session.value;
  if (state.kind !== 'in' || state.workspaces.length === 0) return null;
  const here = scope?.tenantId;
  return (
    <div class="switcher">
      <MenuButton
        at="start"
        ariaLabel={scope && `Tenant ${scope.name}: switch tenant`}
        label={
          <>
            <span class="clip">{scope?.name ?? 'Select a tenant'}</span>
            <Icon name="ChevronDown" />
          </>
        }
      >
        {state.workspaces.map(({ tenant, organization_name: organization }) => (
          <a
            key={tenant.tenant_id}
            href={addressOf('home', { tenant: tenant.tenant_id })}
            aria-current={tenant.tenant_id === here ? 'true' : undefined}
          >
            {tenant.display_name}
            <span class="muted small">{` ${organization}`}</span>
          </a>
        ))}
      </MenuButton>
    </div>
  );
}
