import type { ClientRecord, IssuedClient, Profile } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../../data/formats.ts';
import { inBackground } from '../../data/in-background.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import type { Column } from '../../parts/list/table.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/session.ts';
import { usePages } from '../../session/use.ts';
import { ListScreen } from '../list-screen.tsx';
import { useSecretOnce } from '../secret-once.tsx';

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
      about="What a program signs in with: a client id and a secret."
      list={list}
      idOf={({ id }) => id}
      columns={columnsFor(org)}
      empty={
        <Empty title="No clients yet.">
          <span>Create one to call the API from a program.</span>
        </Empty>
      }
      create={{
        words: 'Create a client',
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
        <a class="open clip" href={addressOf('client', { org, client: client.id })}>
          {visible(client.name)}
        </a>
      ),
    },
    { title: 'Profile', cell: (client) => client.profile },
    {
      title: 'Client id',
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
  { value: 'invoke', label: 'invoke: run agents, answer, read' },
  { value: 'observe', label: 'observe: read only' },
  { value: 'deploy', label: 'deploy: invoke, and deploy agents' },
];

function CreateClient(props: {
  readonly org: string;
  readonly onClose: () => void;
  readonly onIssued: (client: IssuedClient) => void;
}): JSX.Element {
  const [name, setName] = useState('');
  const [profile, setProfile] = useState<string>('invoke');
  const [days, setDays] = useState('90');
  const create = async () => {
    const client = await organizationClient(props.org).clients.create({
      name: name.trim(),
      profile: profile as Profile,
      ...(days === '' ? {} : { expires_in_days: Number(days) }),
    });
    props.onIssued(client);
  };
  return (
    <FormDialog
      title="Create an automation client"
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
        hint="The program that will use it, such as “Nightly reports”."
      />
      <SelectField label="May" value={profile} choices={profiles} onChange={setProfile} />
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
