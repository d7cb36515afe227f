import type { JSX } from 'preact';
import { type Choice, SelectField, TextField } from '../../parts/field.tsx';
import { listAgents } from '../../session/api.ts';
import { session } from '../../session/session.ts';
import { organizationClient, tenantScope } from '../../session/tenant-clients.ts';
import { useResource } from '../../session/use.ts';

/** Chooses the scope of a budget by its name. A session has no name, so its id is typed. */
export function ScopePicker(props: {
  readonly org: string;
  readonly kind: string;
  readonly value: string;
  readonly onChange: (id: string) => void;
}): JSX.Element {
  const { org, kind, value, onChange } = props;
  const found = useResource(`${org}/budget-scopes/${kind}`, () => choicesOf(org, kind));
  if (kind === 'session') {
    return <TextField label="Session ID" value={value} onInput={onChange} placeholder="sess_…" />;
  }
  const choices = found.data.value ?? [];
  const isKnown = choices.some((choice) => choice.value === value);
  return (
    <SelectField
      label={labels[kind] ?? 'Name'}
      value={isKnown ? value : ''}
      choices={isKnown ? choices : [{ value: '', label: 'Choose…' }, ...choices]}
      onChange={onChange}
    />
  );
}

const labels: Readonly<Record<string, string>> = {
  tenant: 'Tenant',
  client: 'Automation client',
  agent: 'Agent name',
};

/** One page is enough: an organization has at most 20 clients, and 100 tenants or agents fill a list. */
const limit = 100;

export async function tenantChoices(org: string): Promise<readonly Choice[]> {
  const { items } = await organizationClient(org).tenants.list({ limit }).page();
  return items
    .filter(({ status }) => status === 'active')
    .map(({ id, display_name: label }) => ({ value: id, label }));
}

async function choicesOf(org: string, kind: string): Promise<readonly Choice[]> {
  if (kind === 'tenant') return tenantChoices(org);
  if (kind === 'client') {
    const { items } = await organizationClient(org).clients.list({ limit }).page();
    return items.map(({ id, name }) => ({ value: id, label: name }));
  }
  return kind === 'agent' ? agentChoices(org) : [];
}

/** Agents of every tenant of the organization, each once. */
async function agentChoices(org: string): Promise<readonly Choice[]> {
  const state = session.value;
  const workspaces = state.kind === 'in' ? state.workspaces : [];
  const own = workspaces.filter(({ organization_id: id }) => id === org).slice(0, tenantsMax);
  const scopes = own.flatMap(({ tenant }) => tenantScope(tenant.tenant_id) ?? []);
  const lists = await Promise.all(scopes.map((scope) => listAgents(scope)));
  const names = new Set(lists.flat().map(({ name }) => name));
  return [...names]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => ({ value: name, label: name }));
}

const tenantsMax = 10;
