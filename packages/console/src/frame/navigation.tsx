import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ScreenName, addressOf } from '../data/routes.ts';
import { Brand, Icon, type IconName } from '../parts/icon.tsx';
import { MenuButton } from '../parts/menu.tsx';
import { getOverview } from '../session/api.ts';
import { useNotices, useRefreshOnNotice } from '../session/live.ts';
import { nameOfPerson, session } from '../session/session.ts';
import type { TenantScope } from '../session/tenant-clients.ts';
import { useResource } from '../session/use.ts';
import { readWorkspacesAgain } from '../session/workspaces.ts';
import { notifyOfRequest } from '../page/notifications.ts';
import { place } from '../page/router.ts';
import { waitingCount } from '../page/title.ts';

interface Entry {
  readonly name: string;
  readonly screen: ScreenName;
  readonly icon: IconName;
  /** Screens below this one. */
  readonly also?: readonly ScreenName[];
}

const workEntries: readonly Entry[] = [
  { name: 'Home', screen: 'home', icon: 'House' },
  { name: 'Approvals', screen: 'approvals', icon: 'Inbox' },
  { name: 'Runs', screen: 'runs', icon: 'Play', also: ['run'] },
  { name: 'Sessions', screen: 'sessions', icon: 'MessagesSquare', also: ['session'] },
  { name: 'Agents', screen: 'agents', icon: 'Bot', also: ['agent'] },
  { name: 'Usage', screen: 'usage', icon: 'ChartColumn' },
];

const automationEntries: readonly Entry[] = [
  { name: 'Schedules', screen: 'schedules', icon: 'CalendarClock', also: ['schedule'] },
  { name: 'Webhooks', screen: 'webhooks', icon: 'Webhook', also: ['webhook'] },
  { name: 'Connections', screen: 'connections', icon: 'Plug', also: ['connect'] },
];

export const tenantEntries: readonly Entry[] = [...workEntries, ...automationEntries];

export const organizationEntries: readonly Entry[] = [
  { name: 'Tenants', screen: 'tenants', icon: 'Layers' },
  { name: 'Clients', screen: 'clients', icon: 'KeyRound', also: ['client'] },
  { name: 'Members', screen: 'members', icon: 'Users' },
  { name: 'Budgets', screen: 'budgets', icon: 'Wallet' },
  { name: 'Rules', screen: 'rules', icon: 'ShieldCheck' },
  { name: 'Audit', screen: 'audit', icon: 'ScrollText' },
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
  const person = state.kind === 'in' ? nameOfPerson(state.me) : '';
  return (
    <nav class={`sidebar ${isOpen ? 'open' : ''}`} aria-label="Console">
      <a class="brand" href={scope === undefined ? '/console/' : homeOf(scope)}>
        <Brand />
        Convoke
      </a>
      <Switcher scope={scope} />
      {scope !== undefined && (
        <>
          <Group entries={workEntries} params={{ tenant: scope.tenantId }} scope={scope} />
          <Group
            title="Automation"
            entries={automationEntries}
            params={{ tenant: scope.tenantId }}
          />
        </>
      )}
      {organizationId !== undefined && manages(organizationId) && (
        <Group
          title="Organization"
          entries={organizationEntries}
          params={{ org: organizationId }}
        />
      )}
      <ul class="foot">
        <li>
          <a href="/docs">
            <Icon name="BookOpen" />
            <span class="nav-name">Docs</span>
          </a>
        </li>
        <NavigationLink
          entry={{ name: 'Settings', screen: 'settings', icon: 'Settings' }}
          params={{}}
        >
          <span class="muted small clip">{person}</span>
        </NavigationLink>
      </ul>
    </nav>
  );
}

/** One of the three kinds of screens: work, what runs without a person, and the organization. */
function Group(props: {
  readonly title?: string;
  readonly entries: readonly Entry[];
  readonly params: Readonly<Record<string, string>>;
  /** Where the number of open requests is shown. */
  readonly scope?: TenantScope;
}): JSX.Element {
  const { title, entries, params, scope } = props;
  return (
    <>
      {title !== undefined && <h2>{title}</h2>}
      <ul>
        {entries.map((entry) => (
          <NavigationLink key={entry.screen} entry={entry} params={params}>
            {entry.screen === 'approvals' && scope !== undefined ? (
              <PendingCount scope={scope} />
            ) : null}
          </NavigationLink>
        ))}
      </ul>
    </>
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
        <Icon name={entry.icon} />
        <span class="nav-name nowrap">{entry.name}</span>
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
  useNotices((notice) => {
    if (notice !== undefined) notifyOfRequest(notice, scope.tenantId);
  });
  const count = overview.data.value?.pending_interactions ?? 0;
  useEffect(() => {
    waitingCount.value = count;
    return () => {
      waitingCount.value = 0;
    };
  }, [count]);
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
  // With one organization its name tells nothing apart.
  const isOne = state.me.memberships.length <= 1;
  return (
    <div class="switcher">
      <MenuButton
        at="start"
        ariaLabel={scope && `Tenant ${scope.name}: switch tenant`}
        onOpen={readWorkspacesAgain}
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
            {!isOne && <span class="muted small">{` ${organization}`}</span>}
          </a>
        ))}
      </MenuButton>
    </div>
  );
}
