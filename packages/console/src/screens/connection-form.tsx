import type { ConnectionAuth, ConnectionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../parts/dialog.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { listAgents } from '../session/api.ts';
import { useResource, useTenant } from '../session/use.ts';

type Kind = ConnectionAuth['type'];

const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'bearer', label: 'Token' },
  { value: 'header', label: 'Header with a value' },
  { value: 'oauth', label: 'OAuth token, refreshed' },
];

/**
 * Connects an account of this person or of the tenant, or replaces one (D-590, D-948). What is typed as a secret is
 * sent once, and kept nowhere in the page.
 */
export function ConnectionForm(props: {
  readonly replaced?: ConnectionRecord | undefined;
  /** The id of this person. */
  readonly me: string;
  readonly mayForTenant: boolean;
  readonly onStored: () => Promise<unknown>;
  readonly onClose: () => void;
}): JSX.Element {
  const { replaced, me, mayForTenant, onStored, onClose } = props;
  const tenant = useTenant();
  const agents = useResource(`${tenant.tenantId}/agents`, () => listAgents(tenant));
  const [form, setForm] = useState(() => valuesOf(replaced, mayForTenant));
  const set = (change: Partial<Values>) => setForm((before) => ({ ...before, ...change }));
  const services = (agents.data.value ?? []).flatMap(({ connections = [] }) =>
    connections.map(({ service }) => service),
  );
  const account = accountIn(form);
  const store = async () => {
    if (account === undefined) return;
    const endUser = form.owner === 'me' && { end_user: me };
    await tenant.client.connections.put(form.service.trim(), { ...endUser, auth: account });
    await onStored();
  };
  return (
    <FormDialog
      title={replaced === undefined ? 'Add connection' : `Replace ${replaced.service}`}
      action={replaced === undefined ? 'Add' : 'Replace'}
      isReady={form.service.trim() !== '' && account !== undefined}
      onSubmit={store}
      onClose={onClose}
    >
      {replaced === undefined ? (
        <>
          <TextField
            label="Service"
            value={form.service}
            onInput={(service) => set({ service })}
            suggestions={[...new Set(services)].sort()}
            hint="The name that agent.yaml has for it. An account that is there is replaced."
            autofocus
          />
          <SelectField
            label="Owner"
            value={form.owner}
            choices={[
              { value: 'me', label: 'You' },
              ...(mayForTenant ? [{ value: 'tenant', label: 'The tenant' }] : []),
            ]}
            onChange={(owner) => set({ owner })}
          />
        </>
      ) : (
        <p class="muted">Stored secrets cannot be shown. Enter the whole account.</p>
      )}
      <SelectField
        label="Kind"
        value={form.kind}
        choices={kinds}
        onChange={(value) =>
          set({ kind: kinds.find((one) => one.value === value)?.value ?? form.kind })
        }
      />
      <AccountFields form={form} onChange={set} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: Values;
  readonly onChange: (change: Partial<Values>) => void;
}

function AccountFields({ form, onChange }: FieldsProps): JSX.Element {
  const secret = (
    <TextField
      label={form.kind === 'header' ? 'Value' : form.kind === 'oauth' ? 'Access token' : 'Token'}
      value={form.secret}
      onInput={(value) => onChange({ secret: value })}
      isSecret
    />
  );
  if (form.kind === 'bearer') return secret;
  if (form.kind === 'oauth') {
    return (
      <>
        {secret}
        <OAuthFields form={form} onChange={onChange} />
      </>
    );
  }
  return (
    <>
      <TextField
        label="Name of the header"
        value={form.header}
        onInput={(header) => onChange({ header })}
        placeholder="X-Api-Key"
      />
      {secret}
    </>
  );
}

function OAuthFields({ form, onChange }: FieldsProps): JSX.Element {
  return (
    <>
      <TextField
        label="Expires (optional)"
        value={form.expiresAt}
        onInput={(expiresAt) => onChange({ expiresAt })}
        placeholder="2030-01-15T09:30:00Z"
      />
      <TextField
        label="Refresh token (optional)"
        value={form.refreshToken}
        onInput={(refreshToken) => onChange({ refreshToken })}
        isSecret
      />
      {form.refreshToken !== '' && (
        <>
          <TextField
            label="Token endpoint"
            value={form.tokenEndpoint}
            onInput={(tokenEndpoint) => onChange({ tokenEndpoint })}
            placeholder="https://github.com/login/oauth/access_token"
          />
          <TextField
            label="Client ID"
            value={form.clientId}
            onInput={(clientId) => onChange({ clientId })}
          />
          <TextField
            label="Client secret (optional)"
            value={form.clientSecret}
            onInput={(clientSecret) => onChange({ clientSecret })}
            isSecret
          />
        </>
      )}
      <TextField
        label="Scope (optional)"
        value={form.scope}
        onInput={(scope) => onChange({ scope })}
      />
    </>
  );
}

interface Values {
  readonly service: string;
  readonly owner: string;
  readonly kind: Kind;
  readonly secret: string;
  readonly header: string;
  readonly expiresAt: string;
  readonly refreshToken: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/** Of one that is replaced, what is no secret is there already. */
function valuesOf(replaced: ConnectionRecord | undefined, mayForTenant: boolean): Values {
  const { service = '', end_user: endUser, auth } = replaced ?? {};
  const isMine = replaced === undefined ? !mayForTenant : endUser !== undefined;
  return {
    service,
    owner: isMine ? 'me' : 'tenant',
    kind: auth?.type ?? 'bearer',
    secret: '',
    header: auth?.name ?? '',
    expiresAt: '',
    refreshToken: '',
    tokenEndpoint: auth?.token_endpoint ?? '',
    clientId: auth?.client_id ?? '',
    clientSecret: '',
    scope: auth?.scope ?? '',
  };
}

/** What is sent; undefined while something is missing. The server says what else is wrong. */
function accountIn(form: Values): ConnectionAuth | undefined {
  const { kind, secret, refreshToken, clientSecret } = form;
  const [header, expires_at, token_endpoint, client_id, scope] = [
    form.header.trim(),
    form.expiresAt.trim(),
    form.tokenEndpoint.trim(),
    form.clientId.trim(),
    form.scope.trim(),
  ];
  if (secret === '') return undefined;
  switch (kind) {
    case 'bearer':
      return { type: kind, token: secret };
    case 'header':
      return header === '' ? undefined : { type: kind, name: header, value: secret };
    case 'oauth': {
      const isRefreshed = refreshToken !== '';
      if (isRefreshed && (token_endpoint === '' || client_id === '')) return undefined;
      return {
        type: kind,
        access_token: secret,
        ...(expires_at !== '' && { expires_at }),
        ...(scope !== '' && { scope }),
        ...(isRefreshed && { refresh_token: refreshToken, token_endpoint, client_id }),
        ...(isRefreshed && clientSecret !== '' && { client_secret: clientSecret }),
      };
    }
    default:
      return kind satisfies never;
  }
}
