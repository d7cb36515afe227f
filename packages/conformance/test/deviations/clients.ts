// The clients of an organization and their credentials.
import {
  type Json,
  type Wrong,
  accepting,
  changing,
  forgetting,
  matches,
  pretending,
  reply,
  toApplication,
  toManagement,
  without,
} from './making.ts';

const clientOf = (body: Json) => body['client'] as Json;
const credentialOf = (body: Json) => body['credential'] as Json;

export const wrongClients: readonly Wrong[] = [
  {
    what: 'people whom any token replaces',
    failing: [
      'an automation client is refused',
      'a management call without a token answers 401',
      'paths take the record id, not the OAuth client id',
      'a client is created from application/json only',
      'another profile is refused',
      'a client without a name is refused',
      'creating a client needs an Idempotency-Key',
      'keys of 8 and 256 characters are good, 7 and 257 are not',
      'a repeated create is a conflict without a secret',
    ],
    make: () => accepting(toManagement),
  },
  {
    what: 'changes of clients that are never refused',
    failing: [
      'custom takes scopes that exist',
      'a change without a version is refused',
      'a change with a stale version is a conflict',
      'status is not changed with a name or profile',
    ],
    make: () => accepting(toManagement),
  },
  {
    what: 'clients whose profile means nothing',
    failing: ['a custom client can do what its scopes allow'],
    make: () => accepting(toApplication),
  },
  {
    what: 'management in a workspace only',
    failing: ['no workspace headers are needed'],
    make: () => ({
      request: (request) =>
        matches(toManagement, request) && !('x-organization-id' in request.headers)
          ? reply(400, {})
          : undefined,
    }),
  },
  {
    what: 'management that may be stored',
    failing: ['management responses are not to be stored'],
    make: () => ({
      answer({ status, headers }) {
        if (status === 204) delete headers['cache-control'];
      },
    }),
  },
  {
    what: 'records with a member for the secret',
    failing: [
      'clients are listed without secrets',
      'no later response has the secret',
      'a client is read with its credentials',
    ],
    make: () => changing(/^GET .*\/m2m/, (body) => ({ ...body, client_secret: null })),
  },
  {
    what: 'profiles without a version',
    failing: ['profiles, scopes and the catalog version are listed'],
    make: () => without(/\/m2m\/profiles$/, 'catalog_version'),
  },
  {
    what: 'a client with two ids for programs',
    failing: ['a client is created with its first secret'],
    make: () => changing(/^POST .*\/m2m$/, (body) => ({ ...body, client_id: 'other' })),
  },
  {
    what: 'a client with a status of its own',
    failing: ['a client has its fields'],
    make: () => changing(/^POST .*\/m2m$/, (body) => void (clientOf(body)['status'] = 'on')),
  },
  {
    what: 'changes that are only said',
    failing: [
      'a client is renamed',
      'a change changes the version',
      'the profile of a client is changed',
      'a removed permission is gone at once',
      'a client is disabled',
      'a token of a disabled client is refused at once',
    ],
    make: () => pretending(/^PATCH /, 200),
  },
  {
    what: 'clients that stay disabled',
    failing: ['an enabled client works again'],
    make: () => ({
      request: ({ json }) => (json?.['status'] === 'active' ? reply(200, {}) : undefined),
    }),
  },
  {
    what: 'a client that works as if it had never been disabled',
    failing: ['a token of before a disabling stays refused'],
    make: () => pretending(/^PATCH /, 200),
  },
  {
    what: 'a credential with another label',
    failing: ['a credential has an id, a label and an expiry'],
    make: () =>
      changing(/\/credentials$/, (body) => void (credentialOf(body)['label'] = 'another')),
  },
  {
    what: 'a second secret that opens nothing',
    failing: ['both secrets of a rotation obtain tokens'],
    make: () => changing(/\/credentials$/, (body) => ({ ...body, client_secret: 'nonsense' })),
  },
  {
    what: 'credentials in any number and form',
    failing: [
      'a credential needs an Idempotency-Key',
      'an empty or missing label is refused',
      'a third live credential is a conflict',
    ],
    make: () => accepting(toManagement),
  },
  {
    what: 'a second credential for one key',
    failing: ['a repeated add issues no other secret', 'the same key makes one tenant'],
    make: () => {
      let sent = 0;
      return forgetting((request) => {
        if (!matches(/^POST .*\/(credentials|tenants)$/, request)) return;
        sent += 1;
        request.headers['idempotency-key'] = `another-key-${sent}`;
      });
    },
  },
  {
    what: 'credentials that nobody revokes',
    failing: ['a credential is revoked'],
    make: () => pretending(/^DELETE .*\/credentials\/\w+$/, 405),
  },
  {
    what: 'tokens that end with their credential',
    failing: ['a token of before a revocation still works'],
    make: () => {
      let isRevoked = false;
      return {
        request(request) {
          isRevoked ||= matches(/^DELETE .*\/credentials\/\w+$/, request);
          return isRevoked && request.path === '/v1/agents' ? reply(401, {}) : undefined;
        },
      };
    },
  },
  {
    what: 'credentials for a month, or for a year and a day',
    failing: ['a credential lives for 90 days by default', '365 days are accepted, 366 are not'],
    make: () =>
      changing(/^POST .*\/m2m$/, (body) => {
        const expiresAt = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
        credentialOf(body)['expires_at'] = expiresAt;
      }),
  },
  {
    what: 'clients without end',
    failing: ['the 21st client is a conflict'],
    make: () => accepting(toManagement),
  },
  {
    what: 'changes that fail',
    failing: ['changes above the rate answer 429'],
    make: () => pretending(/^PATCH /, 500),
  },
  // What they leave behind stays until the server is gone, so they come last.
  {
    what: 'clients and credentials that stay',
    failing: [
      'a token of a deleted client is refused at once',
      'a deleted client is not found',
      'a revoked credential obtains no token',
      'a stream ends with its credential',
    ],
    make: () => pretending(/^DELETE /, 204),
  },
];
