import type { ClientRecord, IssuedClient, Profile } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Choices } from '../../parts/input/choices.tsx';
import type { Column } from '../../parts/list/table.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/tenant-clients.ts';
import { usePages, useResource } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';
import { useSecretOnce } from '../secret-once.tsx';
import { tenantChoices } from './scope-picker.tsx';

export function ClientsScreen({ org = '' }: RouteParams): JSX.Element {
  const { clients } = organizationClient(org);
  const secret = useSecretOnce();
  const list = usePages(
    [org],
    (cursor) => clients.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  return (
    <ListScreen
      title="Automation clients"
      about="Credentials your backend uses to call the API."
      list={list}
      idOf={({ id }) => id}
      columns={columnsFor(org)}
      empty={
        <Empty title="No clients yet.">
          <span>Create a client to call the API from your backend.</span>
        </Empty>
      }
      create={{
        label: 'Create client',
        form: (close) => (
          <CreateClient
            org={org}
            onClose={close}
            onIssued={({ client_id: clientId, client_secret: issued }) => {
              secret.show({ clientId, secret: issued });
              inBackground(list.refresh());
            }}
          />
        ),
      }}
    >
      {secret.element}
    </ListScreen>
  );
}

function columnsFor(org: string): readonly Column<ClientRecord>[] {
  return [
    { title: 'Status', cell: (client) => <Status of={client.status} /> },
    {
      title: 'Name',
      class: 'clip wide-cell',
      cell: (client) => (
        <a class="row-link clip" data-row href={addressOf('client', { org, client: client.id })}>
          {client.name}
        </a>
      ),
    },
    { title: 'Profile', cell: (client) => client.profile },
    {
      title: 'Client ID',
      optional: true,
      cell: (client) => <code class="muted">{client.client_id}</code>,
    },
    {
      title: 'Created',
      optional: true,
      class: 'muted',
      cell: (client) => <Time at={client.created_at} />,
    },
  ];
}

const profiles = [
  { value: 'invoke', label: 'Invoke: run agents, answer requests, read' },
  { value: 'observe', label: 'Observe: read only' },
  { value: 'deploy', label: 'Deploy: everything in Invoke, and deploy agents' },
];

function CreateClient(props: {
  readonly org: string;
  readonly onClose: () => void;
  readonly onIssued: (client: IssuedClient) => void;
}): JSX.Element {
  const [name, setName] = useState('');
  const [profile, setProfile] = useState<string>('invoke');
  const [days, setDays] = useState('90');
  const [bound, setBound] = useState<readonly string[]>([]);
  const tenants = useResource(`${props.org}/tenant-choices`, () => tenantChoices(props.org));
  const create = async () => {
    const client = await organizationClient(props.org).clients.create({
      name: name.trim(),
      profile: profile as Profile,
      ...(bound.length === 0 ? {} : { tenant_ids: bound }),
      ...(days === '' ? {} : { expires_in_days: Number(days) }),
    });
    props.onIssued(client);
  };
  return (
    <FormDialog
      title="Create automation client"
      action="Create"
      isReady={name.trim() !== ''}
      onSubmit={create}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        required
        autofocus
        max={100}
        hint="The program that uses it, such as “Nightly reports”."
      />
      <SelectField label="Permissions" value={profile} choices={profiles} onChange={setProfile} />
      <Choices
        label="Only these tenants (optional)"
        choices={tenants.data.value ?? []}
        chosen={bound}
        onChange={setBound}
        hint="Select none to allow every tenant, including future ones. This can’t be changed later."
      />
      <TextField
        label="Secret expires after (days)"
        isNumber
        value={days}
        onInput={setDays}
        required
      />
    </FormDialog>
  );
}
