import type { SessionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, placeOfId } from '../data/routes.ts';
import { listAgents, listSessions } from '../session/api.ts';
import { session } from '../session/session.ts';
import type { TenantScope } from '../session/tenant-clients.ts';
import { useResource } from '../session/use.ts';
import { readWorkspacesAgain } from '../session/workspaces.ts';
import { manages, organizationEntries, tenantEntries } from './navigation.tsx';
import { navigate } from '../page/router.ts';

interface Target {
  readonly name: string;
  readonly more: string;
  readonly address: string;
}

interface PaletteProps {
  readonly scope: TenantScope | undefined;
  readonly organizationId: string | undefined;
  readonly onClose: () => void;
}

const maxShown = 12;

/** Screens, agents, sessions, tenants and ids in one place: pasting any id opens its screen. */
export function Palette(props: PaletteProps): JSX.Element {
  const { onClose } = props;
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  useEffect(readWorkspacesAgain, []);
  const all = useTargets(props);
  const targets = matching(all, text, props).slice(0, maxShown);
  const go = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    navigate(target.address);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter') go(targets[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={element}
      class="palette"
      aria-label="Search or paste an ID"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={targets[at] === undefined ? undefined : `palette-${at}`}
        aria-label="Search or paste an ID"
        placeholder="Search or paste an ID"
        value={text}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <Targets targets={targets} at={at} onChoose={go} />
      {targets.length === 0 && <p class="empty">No results. Paste a full ID to open it.</p>}
    </dialog>
  );
}

function Targets(props: {
  readonly targets: readonly Target[];
  readonly at: number;
  readonly onChoose: (target: Target) => void;
}): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[props.at]?.scrollIntoView({ block: 'nearest' });
  }, [props.at]);
  return (
    <ul id="palette-list" role="listbox" aria-label="Results" ref={list}>
      {props.targets.map((target, index) => (
        <li
          key={target.address}
          id={`palette-${index}`}
          role="option"
          aria-selected={index === props.at}
          onClick={() => props.onChoose(target)}
        >
          <span class="clip">{target.name}</span>
          <span class="muted">{target.more}</span>
        </li>
      ))}
    </ul>
  );
}

/** All places by name. Sessions come last: there are many. */
function useTargets(props: PaletteProps): Target[] {
  const { scope } = props;
  const tenant = scope?.tenantId ?? '';
  const agents = useResource(`${tenant}/agents`, async () =>
    scope === undefined ? [] : listAgents(scope),
  );
  const sessions = useResource(`${tenant}/named-sessions`, async () =>
    scope === undefined ? [] : (await listSessions(scope, {}, undefined)).items,
  );
  const names = (agents.data.value ?? []).map(({ name }) => name);
  return [...targetsOf(props, names), ...sessionTargets(tenant, sessions.data.value ?? [])];
}

function targetsOf({ scope, organizationId }: PaletteProps, agents: readonly string[]): Target[] {
  const state = session.value;
  const tenant = scope?.tenantId;
  const screens =
    tenant === undefined
      ? []
      : tenantEntries.map(({ name, screen }) => ({
          name,
          more: 'screen',
          address: addressOf(screen, { tenant }),
        }));
  const managed =
    organizationId === undefined || !manages(organizationId)
      ? []
      : organizationEntries.map(({ name, screen }) => ({
          name,
          more: 'organization',
          address: addressOf(screen, { org: organizationId }),
        }));
  const tenants =
    state.kind === 'in'
      ? state.workspaces.map(({ tenant: other, organization_name: more }) => ({
          name: other.display_name,
          more: `tenant of ${more}`,
          address: addressOf('home', { tenant: other.tenant_id }),
        }))
      : [];
  const known =
    tenant === undefined
      ? []
      : agents.map((name) => ({
          name,
          more: 'agent',
          address: addressOf('agent', { tenant, agent: name }),
        }));
  const settings = { name: 'Settings', more: 'screen', address: addressOf('settings') };
  return [...screens, ...managed, settings, ...known, ...tenants];
}

/** The newest sessions, by their titles; an older one is opened by its id. */
function sessionTargets(tenant: string, sessions: readonly SessionRecord[]): Target[] {
  return sessions.flatMap(({ id, title, agent_name: agent }) =>
    title === undefined
      ? []
      : [
          {
            name: title,
            more: `session with ${agent}`,
            address: addressOf('session', { tenant, session: id }),
          },
        ],
  );
}

function matching(all: readonly Target[], text: string, props: PaletteProps): Target[] {
  const words = text.trim().toLowerCase();
  if (words === '') return [...all];
  const id = placeOfId(text);
  const { scope, organizationId = '' } = props;
  if (id !== undefined && scope !== undefined) {
    const params = { tenant: scope.tenantId, org: organizationId, [id.param]: text.trim() };
    const query = id.param === 'item' ? { item: text.trim() } : {};
    const address = addressOf(id.screen, params, query);
    return [{ name: text.trim(), more: `open the ${id.screen}`, address }];
  }
  return all
    .filter(({ name, more }) => `${name} ${more}`.toLowerCase().includes(words))
    .toSorted((a, b) => rank(a, words) - rank(b, words));
}

/** Names that begin with the words come first, then names that contain them, then descriptions. */
function rank({ name }: Target, words: string): number {
  const at = name.toLowerCase().indexOf(words);
  return at === 0 ? 0 : at > 0 ? 1 : 2;
}
