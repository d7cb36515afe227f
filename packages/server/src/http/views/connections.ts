import type { ConnectionAuth, ConnectionRecord, SessionConnectionRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { SessionConnection } from '../../app/connections/session-connections.ts';
import type { Connection, GivenAccount, ShownAuth } from '../../domain/connections/connection.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';

/** D-593: never a secret. */
export function connectionView(connection: Connection, names: Names): ConnectionRecord {
  return {
    id: connection.id,
    service: connection.service,
    end_user: connection.endUser ?? undefined,
    status: connection.status,
    status_reason: connection.statusReason ?? undefined,
    version: connection.version,
    auth: authView(connection.auth, connection.expiresAt),
    last_used_at: timeIn(connection.lastUsedAt),
    created_by: connection.createdBy.id,
    created_by_name: names.get(connection.createdBy.id),
    created_at: isoTime(connection.createdAt),
    updated_at: isoTime(connection.updatedAt),
  };
}

function authView(auth: ShownAuth, expiresAt: number | null): ConnectionRecord['auth'] {
  if (auth.type !== 'oauth') return auth;
  const { type, scope, tokenEndpoint, clientId, refreshes } = auth;
  return {
    type,
    expires_at: timeIn(expiresAt),
    scope,
    token_endpoint: tokenEndpoint,
    client_id: clientId,
    refreshes,
  };
}

export function sessionConnectionView({
  declared,
  connection,
  status,
  statusReason,
}: SessionConnection): SessionConnectionRecord {
  return {
    service: declared.service,
    owner: declared.owner,
    required: declared.isRequired,
    status,
    status_reason: statusReason,
    connection_id: connection?.id,
  };
}

/** An account as the body of a request brings it. */
export function accountIn(auth: ConnectionAuth): GivenAccount {
  switch (auth.type) {
    case 'bearer':
      return { auth: { type: auth.type }, secret: { value: auth.token }, expiresAt: null };
    case 'header': {
      const { type, name, value } = auth;
      return { auth: { type, name }, secret: { value }, expiresAt: null };
    }
    case 'oauth': {
      const { type, scope, refresh_token: refreshToken, expires_at } = auth;
      const endpoint = { tokenEndpoint: auth.token_endpoint, clientId: auth.client_id };
      return {
        auth: { type, scope, ...endpoint, refreshes: refreshToken !== undefined },
        secret: { value: auth.access_token, refreshToken, clientSecret: auth.client_secret },
        expiresAt: expires_at === undefined ? null : Date.parse(expires_at),
      };
    }
    default:
      return auth satisfies never;
  }
}
