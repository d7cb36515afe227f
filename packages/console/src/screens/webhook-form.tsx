import type { WebhookType } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { webhookEvents } from '../data/events/event-names.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { type Choice, SelectField, TextField } from '../parts/field.tsx';
import { Choices } from '../parts/input/choices.tsx';
import { listAgents } from '../session/api.ts';
import { useResource, useTenant } from '../session/use.ts';

const eventChoices = Object.entries(webhookEvents).map(([value, label]) => ({ value, label }));
const scopes = [
  { value: 'all', label: 'All events' },
  { value: 'some', label: 'Selected events' },
];

export function WebhookForm(props: {
  readonly onClose: () => void;
  readonly onCreated: (secret: string) => void;
}): JSX.Element {
  const { client, tenantId, ...scope } = useTenant();
  const tenant = { client, tenantId, ...scope };
  const agents = useResource(`${tenantId}/agents`, () => listAgents(tenant));
  const names = (agents.data.value ?? []).map(({ name }) => ({ value: name, label: name }));
  const [form, setForm] = useState<Values>(empty);
  const set = (change: Partial<Values>) => setForm((before) => ({ ...before, ...change }));
  const create = async () => {
    const description = form.description.trim();
    const labels = labelsIn(form.labels);
    const issued = await client.webhooks.create({
      url: form.url.trim(),
      types: form.scope === 'all' ? ['*'] : (form.types as readonly WebhookType[]),
      ...(description === '' ? {} : { description }),
      ...(form.agents.length === 0 ? {} : { agent_names: form.agents }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    });
    props.onCreated(issued.secret);
  };
  return (
    <FormDialog
      title="Create webhook"
      action="Create"
      isReady={form.url.trim() !== '' && (form.scope === 'all' || form.types.length > 0)}
      onSubmit={create}
      onClose={props.onClose}
    >
      <Fields form={form} agents={names} onChange={set} />
    </FormDialog>
  );
}

function Fields(props: {
  readonly form: Values;
  readonly agents: readonly Choice[];
  readonly onChange: (change: Partial<Values>) => void;
}): JSX.Element {
  const { form, agents, onChange } = props;
  return (
    <>
      <TextField
        label="URL"
        value={form.url}
        onInput={(url) => onChange({ url })}
        placeholder="https://example.com/convoke"
        autofocus
        hint="https, reachable from this server. A development server also accepts http://127.0.0.1."
      />
      <TextField
        label="Description (optional)"
        value={form.description}
        onInput={(description) => onChange({ description })}
      />
      <SelectField
        label="Events"
        value={form.scope}
        choices={scopes}
        onChange={(value) => onChange({ scope: value })}
      />
      {form.scope === 'some' && (
        <Choices
          label="Send these events"
          choices={eventChoices}
          chosen={form.types}
          onChange={(types) => onChange({ types })}
        />
      )}
      {agents.length > 0 && (
        <Choices
          label="Only these agents (optional)"
          choices={agents}
          chosen={form.agents}
          onChange={(chosen) => onChange({ agents: chosen })}
        />
      )}
      <TextField
        label="Only with these labels (optional)"
        value={form.labels}
        onInput={(labels) => onChange({ labels })}
        placeholder="customer:acme, stage:live"
      />
    </>
  );
}

interface Values {
  readonly url: string;
  readonly description: string;
  readonly scope: string;
  readonly types: readonly string[];
  readonly agents: readonly string[];
  readonly labels: string;
}

const empty: Values = { url: '', description: '', scope: 'all', types: [], agents: [], labels: '' };

/** `key:value` pairs, with commas between them. The server reports invalid ones. */
function labelsIn(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim());
  const entries = pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf(':');
      return at === -1 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    });
  return Object.fromEntries(entries) as Record<string, string>;
}
