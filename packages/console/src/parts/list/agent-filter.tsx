import type { JSX } from 'preact';
import { setQuery } from '../../page/router.ts';
import { listAgents } from '../../session/api.ts';
import { useResource, useTenant } from '../../session/use.ts';
import { Select } from '../field.tsx';

/** Filters a list by one agent of the tenant. One that the address names is a choice, also when it no longer exists. */
export function AgentFilter({ value }: { readonly value: string }): JSX.Element {
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  const names = (agents.data.value ?? []).map(({ name }) => name);
  const choices = [...new Set([...names, ...(value === '' ? [] : [value])])];
  return (
    <Select
      name="Agent"
      value={value}
      choices={[
        { value: '', label: 'All agents' },
        ...choices.map((name) => ({ value: name, label: name })),
      ]}
      onChange={(agent) => setQuery({ agent })}
    />
  );
}
