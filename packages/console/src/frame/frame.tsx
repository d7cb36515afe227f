import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import { addressOf } from '../data/routes.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { announce } from '../parts/toast.tsx';
import { goLive, liveState } from '../session/live.ts';
import { leftAt } from '../session/access.ts';
import { session } from '../session/session.ts';
import { type TenantScope, tenantScope } from '../session/tenant-clients.ts';
import { TenantContext } from '../session/use.ts';
import { Navigation, sectionOf } from './navigation.tsx';
import { Palette } from './palette.tsx';
import { NoLongerMember } from './no-longer-member.tsx';
import { navigate, place } from '../page/router.ts';
import { loadPageAgain, screenOf } from './screens.ts';
import { shortcutList } from '../parts/shortcut-list.tsx';
import { modifierKey, useShortcuts } from '../page/shortcuts.ts';

const open = signal<'palette' | 'keys' | 'navigation' | undefined>(undefined);
/** The tenant that was seen last: organization screens and settings keep it in the navigation. */
const lastTenant = signal<string | undefined>(undefined);

/** Everything around a screen: navigation, search, the state of the connection. */
export function Frame(): JSX.Element {
  const { params, screen } = place.value;
  const wanted = params['tenant'];
  const scope = scopeOf(wanted);
  useEffect(() => {
    if (scope !== undefined) lastTenant.value = scope.tenantId;
  }, [scope]);
  const organizationId = params['org'] ?? scope?.organizationId;
  useEffect(() => (scope === undefined ? undefined : goLive(scope, announce)), [scope]);
  useEffect(() => {
    open.value = undefined;
  }, [screen, params]);
  useKeys(scope, organizationId);
  const body = (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Navigation
        scope={scope}
        organizationId={organizationId}
        isOpen={open.value === 'navigation'}
      />
      {open.value === 'navigation' && (
        <button
          type="button"
          class="shade"
          aria-label="Close navigation"
          onClick={() => (open.value = undefined)}
        />
      )}
      <div class="main" data-scroller>
        <Top scope={scope} />
        {liveState.value === 'reconnecting' && (
          <div class="status-line" role="status">
            Reconnecting… Nothing is lost.
          </div>
        )}
        <Content isMissing={wanted !== undefined && scope === undefined} />
      </div>
      {open.value === 'palette' && (
        <Palette scope={scope} organizationId={organizationId} onClose={close} />
      )}
      {open.value === 'keys' && (
        <Dialog title="Keyboard shortcuts" onClose={close}>
          {shortcutList()}
          <div class="buttons end">
            <Button onClick={close} autofocus>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
  return <TenantContext.Provider value={scope}>{body}</TenantContext.Provider>;
}

function close(): void {
  open.value = undefined;
}

/** The tenant of the screen, else the one that was seen last, else the newest. */
function scopeOf(wanted: string | undefined): TenantScope | undefined {
  const state = session.value;
  if (state.kind !== 'in') return undefined;
  if (wanted !== undefined) return tenantScope(wanted);
  return (
    tenantScope(lastTenant.value ?? '') ?? tenantScope(state.workspaces[0]?.tenant.tenant_id ?? '')
  );
}

function useKeys(scope: TenantScope | undefined, organizationId: string | undefined): void {
  const tenant = scope?.tenantId;
  const go = (screen: Parameters<typeof addressOf>[0]) => () => {
    if (tenant !== undefined) navigate(addressOf(screen, { tenant }));
  };
  useShortcuts({
    'mod+k': () => {
      open.value = open.value === 'palette' ? undefined : 'palette';
    },
    '?': () => {
      open.value = 'keys';
    },
    'g h': go('home'),
    'g i': go('approvals'),
    'g r': go('runs'),
    'g s': go('sessions'),
    'g a': go('agents'),
    Escape: goBack,
    'g o': () => {
      if (organizationId !== undefined) navigate(addressOf('tenants', { org: organizationId }));
    },
  });
}

/**
 * From a field to its screen; from a screen to the list it belongs to. What was typed is not lost by a key: while a
 * field has words in it, the screen stays.
 */
function goBack(): void {
  const active = document.activeElement;
  if (active instanceof HTMLElement && active.matches('input, textarea, select')) {
    active.blur();
    return;
  }
  const { screen, params } = place.value;
  const section = sectionOf(screen);
  const fields = [
    ...document.querySelectorAll<HTMLInputElement>(
      'main :is(textarea, input[type="text"], input[type="search"])',
    ),
  ];
  if (section === undefined || section.screen === screen) return;
  if (fields.every(({ value }) => value === '')) navigate(addressOf(section.screen, params));
}

function Top({ scope }: { readonly scope: TenantScope | undefined }): JSX.Element {
  return (
    <header class="top">
      <span class="open-navigation">
        <Button
          kind="quiet"
          size="icon"
          ariaLabel="Open navigation"
          onClick={() => (open.value = 'navigation')}
        >
          <Icon name="Menu" />
        </Button>
      </span>
      <Crumbs scope={scope} />
      <button type="button" class="button find" onClick={() => (open.value = 'palette')}>
        <Icon name="Search" />
        <span class="find-label">Search or paste an ID</span>
        <kbd>{modifierKey} K</kbd>
      </button>
    </header>
  );
}

/**
 * Where the screen stands: the tenant or the organization, then the list that it belongs to. The switcher says which
 * tenant it is, so its name is here only where the navigation is closed.
 */
function Crumbs({ scope }: { readonly scope: TenantScope | undefined }): JSX.Element {
  const { screen, params } = place.value;
  const { org } = params;
  const owner = org === undefined ? scope?.name : organizationName(org);
  const section = sectionOf(screen);
  const address = section === undefined ? '' : addressOf(section.screen, params);
  const where = org === undefined ? 'narrow-only' : '';
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {owner !== undefined && screen !== 'settings' && <span class={`clip ${where}`}>{owner}</span>}
      {section !== undefined && section.screen !== screen && (
        <>
          <span class={where} aria-hidden="true">
            /
          </span>
          <a href={address}>{section.name}</a>
        </>
      )}
    </nav>
  );
}

function organizationName(id: string): string {
  const state = session.value;
  if (state.kind !== 'in') return '';
  const found = state.me.memberships.find(({ organization_id: other }) => other === id);
  return found?.organization_name ?? id;
}

/** Screens that fill the window: the inbox to its edges, a conversation with its composer to the bottom. */
const layouts: Readonly<Partial<Record<string, string>>> = {
  approvals: 'full',
  agent: 'tall',
  session: 'tall',
};

function Content({ isMissing }: { readonly isMissing: boolean }): JSX.Element {
  const { screen, params } = place.value;
  const main = useRef<HTMLElement>(null);
  const found = screenOf(screen);
  // Before the screen is drawn: later, it would take the focus from a row that a key has chosen.
  useLayoutEffect(() => {
    // A new screen begins at its top, and the keyboard begins there too.
    const frame = main.current?.parentElement;
    if (frame !== null && frame !== undefined) frame.scrollTop = 0;
    main.current?.focus({ preventScroll: true });
  }, [screen, JSON.stringify(params)]);
  const isShown = typeof found === 'function' && !isMissing;
  const layout = isShown ? (layouts[screen] ?? '') : '';
  return (
    <main id="content" class={`content ${layout}`} ref={main} tabIndex={-1}>
      <Body isMissing={isMissing} />
    </main>
  );
}

/** A screen whose script did not come. The page retries automatically when the server is back. */
function FailedScreen({ error }: { readonly error: unknown }): JSX.Element {
  const live = liveState.value;
  const wasAway = useRef(false);
  useEffect(() => {
    if (live === 'reconnecting') wasAway.current = true;
    if (live === 'live' && wasAway.current) inBackground(loadPageAgain());
  }, [live]);
  return <ProblemNote error={error} retry={loadPageAgain} />;
}

function Body({ isMissing }: { readonly isMissing: boolean }): JSX.Element {
  const { screen, params } = place.value;
  const found = screenOf(screen);
  const left = leftAt(params);
  if (left !== undefined) return <NoLongerMember name={left.name} />;
  if (isMissing) {
    return (
      <Empty isScreen title="This tenant doesn’t exist, or you don’t have access.">
        <a href="/console/">Go to Home</a>
      </Empty>
    );
  }
  if (screen === 'start' || screen === 'callback' || found === 'loading') return <Skeleton />;
  if (found === 'unknown') {
    return (
      <Empty isScreen title="Page not found.">
        <a href="/console/">Go to Home</a>
      </Empty>
    );
  }
  if (typeof found === 'object' && 'error' in found) {
    return <FailedScreen error={found.error} />;
  }
  const Screen = found;
  return <Screen key={`${screen}/${params['tenant'] ?? params['org'] ?? ''}`} {...params} />;
}
