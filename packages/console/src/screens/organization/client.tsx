import type { ClientRecord, ClientWithCredentials, CredentialRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { date } from '../../data/formats.ts';
import { type RouteParams, addressOf } from '../../data/routes.ts';
import { Button } from '../../parts/button.tsx';
import { now } from '../../page/clock.ts';
import { Confirm, useAction } from '../../parts/dialog.tsx';
import { Card, Heading, Await } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { actorName } from '../../session/actors.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { useResource, useTitle } from '../../session/use.ts';
import { navigate } from '../../page/router.ts';
import { useSecretOnce } from '../secret-once.tsx';

export function ClientScreen({ org = '', client: id = '' }: RouteParams): JSX.Element {
  const api = organizationClient(org);
  const found = useResource(`${org}/client/${id}`, () => api.clients.get(id));
  return (
    <Await resource={found} title="Client">
      {(all) => <OneClient org={org} all={all} onChange={() => found.refresh()} />}
    </Await>
  );
}

interface ClientProps {
  readonly org: string;
  readonly all: ClientWithCredentials;
  readonly onChange: () => Promise<void>;
}

function OneClient({ org, all, onChange }: ClientProps): JSX.Element {
  const { client, credentials } = all;
  useTitle(client.name);
  const secret = useSecretOnce();
  const creator = actorName({ kind: 'person', id: client.created_by });
  const active = credentials.filter(({ status }) => status === 'active');
  const rotate = useAction(async () => {
    const label = `rotated ${date(new Date(now.value).toISOString(), now.value)}`;
    const issued = await organizationClient(org).credentials.add(client.id, { label });
    secret.show({ clientId: issued.client_id, secret: issued.client_secret });
    await onChange();
  });
  return (
    <>
      <Heading
        title={client.name}
        actions={
          <>
            <Button
              onClick={rotate.run}
              disabled={rotate.isBusy || active.length > 1 || client.status !== 'active'}
              title={
                active.length > 1 ? 'Two secrets are active: revoke the old one first' : undefined
              }
            >
              Rotate secret
            </Button>
            <ClientState org={org} client={client} onChange={onChange} />
          </>
        }
      >
        <p class="summary-line">
          <Status of={client.status} />
          <span>{client.profile}</span>
          <code>{client.client_id}</code>
          <span>
            created by <span title={client.created_by}>{creator}</span>{' '}
            <Time at={client.created_at} />
          </span>
        </p>
      </Heading>
      {rotate.error !== undefined && <ProblemNote error={rotate.error} />}
      {secret.element}
      {active.length > 1 && (
        <RotationSteps credentials={active} isStored={secret.element === undefined} />
      )}
      <Card title="Credentials">
        <div class="list">
          {credentials.map((credential) => (
            <CredentialRow
              key={credential.id}
              credential={credential}
              onRevoke={async () => {
                await organizationClient(org).credentials.revoke(client.id, credential.id);
                await onChange();
              }}
            />
          ))}
        </div>
      </Card>
      <ClientAbout client={client} />
    </>
  );
}

/** One flow: store the new secret, see it used, revoke the old one. */
function RotationSteps(props: {
  readonly credentials: readonly CredentialRecord[];
  readonly isStored: boolean;
}): JSX.Element {
  const sorted = props.credentials.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const [old, fresh] = [sorted[0], sorted.at(-1)];
  const isUsed = fresh?.last_used_at !== undefined;
  const step = !props.isStored ? 0 : isUsed ? 2 : 1;
  const steps = [
    'Store the new secret and deploy it',
    `Wait until …${fresh?.secret_hint ?? ''} is used`,
    `Revoke …${old?.secret_hint ?? ''}`,
  ];
  return (
    <div class="note waiting-note">
      <p>
        <strong>Rotation in progress.</strong> Both secrets work until you revoke the old one.
      </p>
      <ol class="steps">
        {steps.map((text, index) => (
          <li key={text} aria-current={index === step ? 'step' : undefined}>
            {text}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Shown as a warning this long before the end. */
const soonMs = 14 * 86_400_000;

function CredentialRow(props: {
  readonly credential: CredentialRecord;
  readonly onRevoke: () => Promise<void>;
}): JSX.Element {
  const { credential } = props;
  const [isAsking, setAsking] = useState(false);
  const isActive = credential.status === 'active';
  const isSoon = Date.parse(credential.expires_at) - now.value < soonMs;
  return (
    <div class="list-row wraps">
      <Status of={credential.status} />
      <span class="grow clip">{credential.label}</span>
      <code class="muted">{`…${credential.secret_hint}`}</code>
      <span class="muted small">
        {credential.last_used_at === undefined ? (
          'Never used'
        ) : (
          <>
            used <Time at={credential.last_used_at} />
          </>
        )}
      </span>
      {isActive && (
        <span class={`small ${isSoon ? 'waiting' : 'muted'}`}>
          <Until at={credential.expires_at} before="expires" />
        </span>
      )}
      {isActive && (
        <Button size="small" kind="quiet" onClick={() => setAsking(true)}>
          Revoke
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={`Revoke …${credential.secret_hint}?`}
          action="Revoke"
          onConfirm={props.onRevoke}
          onClose={() => setAsking(false)}
        >
          <p>
            Programs that still use this secret can’t get new tokens.{' '}
            {credential.last_used_at === undefined ? (
              'Never used.'
            ) : (
              <>
                It was last used <Time at={credential.last_used_at} />.
              </>
            )}
          </p>
        </Confirm>
      )}
    </div>
  );
}

function ClientAbout({ client }: { readonly client: ClientRecord }): JSX.Element {
  return (
    <Card title="Permissions">
      <dl class="facts card-body">
        <dt>Scopes</dt>
        <dd class="tags">
          {client.scopes.map((scope) => (
            <code key={scope} class="tag">
              {scope}
            </code>
          ))}
        </dd>
        <dt>Tenants</dt>
        <dd>
          {client.tenant_ids === undefined
            ? 'All tenants, including future ones'
            : client.tenant_ids.join(', ')}
        </dd>
        {client.description !== undefined && (
          <>
            <dt>Description</dt>
            <dd>{client.description}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}

function ClientState(props: {
  readonly org: string;
  readonly client: ClientRecord;
  readonly onChange: () => Promise<void>;
}): JSX.Element {
  const { org, client, onChange } = props;
  const [isDeleting, setDeleting] = useState(false);
  const api = organizationClient(org).clients;
  const status = client.status === 'active' ? 'disabled' : 'active';
  const change = useAction(async () => {
    try {
      await api.update(client.id, { version: client.version, status });
    } finally {
      await onChange();
    }
  });
  return (
    <>
      <Button onClick={change.run} disabled={change.isBusy}>
        {status === 'disabled' ? 'Disable' : 'Enable'}
      </Button>
      <Button kind="danger" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {change.error !== undefined && <ProblemNote error={change.error} />}
      {isDeleting && (
        <Confirm
          title={`Delete ${client.name}?`}
          action="Delete"
          onConfirm={async () => {
            await api.delete(client.id);
            navigate(addressOf('clients', { org }));
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{`It loses access immediately.`}</p>
        </Confirm>
      )}
    </>
  );
}
