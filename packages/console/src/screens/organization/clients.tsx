import type { ClientRecord, IssuedClient, Profile } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../../data/formats.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, useAction } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Heading } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/session.ts';
import { usePages, useTitle } from '../../session/use.ts';
import { SecretOnce } from '../secret-once.tsx';

export function ClientsScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Clients');
  const { clients } = organizationClient(org);
  const [isCreating, setCreating] = useState(false);
  const [issued, setIssued] = useState<IssuedClient | undefined>(undefined);
  const list = usePages(
    [org],
    (cursor) => clients.list({ limit: 50, cursor }).page(),
    ({ id }) => id,
  );
  return (
    <>
      <Heading
        title="Automation clients"
        actions={
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a client
          </Button>
        }
      >
        <p class="muted">What a program signs in with: a client id and a secret.</p>
      </Heading>
      {issued !== undefined && (
        <SecretOnce
          clientId={issued.client_id}
          secret={issued.client_secret}
          onDone={() => setIssued(undefined)}
        />
      )}
      <PagedTable
        label="Automation clients"
        list={list}
        idOf={({ id }) => id}
        columns={columnsFor(org)}
        empty={
          <Empty title="No clients yet.">
            <span>Create one to call the API from a program.</span>
          </Empty>
        }
      />
      {isCreating && (
        <CreateClient
          org={org}
          onClose={() => setCreating(false)}
          onIssued={(client) => {
            setIssued(client);
            void list.refresh();
          }}
        />
      )}
    </>
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
  const create = useAction(async () => {
    const client = await organizationClient(props.org).clients.create({
      name: name.trim(),
      profile: profile as Profile,
      ...(days === '' ? {} : { expires_in_days: Number(days) }),
    });
    props.onIssued(client);
    props.onClose();
  });
  return (
    <Dialog title="Create an automation client" onClose={props.onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
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
        {create.error !== undefined && <ProblemNote error={create.error} />}
        <div class="buttons end">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={create.isBusy || name.trim() === ''}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
