// The access gate, refusals of the application API, and tenants.
import {
  type Json,
  type Wrong,
  accepting,
  changing,
  forgetting,
  matches,
  pretending,
  reply,
  textOf,
  toApplication,
  toManagement,
  without,
} from './making.ts';

/** Tokens that nobody issued, after the first one. */
function tokens(change: (body: Json) => void): ReturnType<Wrong['make']> {
  let issued = 0;
  return changing(/\/oauth\/token$/, (body) => {
    issued += 1;
    if (issued > 1) change(body);
  });
}

/** Every tenant is the one of the first request. */
function oneTenant(): ReturnType<Wrong['make']> {
  let first: string | undefined;
  return forgetting(({ headers }) => {
    const tenant = headers['x-workspace-tenant-id'];
    first ??= tenant;
    if (tenant !== undefined && first !== undefined) headers['x-workspace-tenant-id'] = first;
  });
}

export const wrongGates: readonly Wrong[] = [
  {
    what: 'a token that opens nothing',
    failing: ['a client exchanges its id and secret for a token that works'],
    make: () => tokens((body) => (body['access_token'] = 'nonsense')),
  },
  {
    what: 'a token for a week',
    failing: ['a token says that it is valid for at most a day'],
    make: () => tokens((body) => (body['expires_in'] = 604_800)),
  },
  {
    what: 'a header of another name that is forbidden',
    failing: ['X-Tenant-ID selects the tenant'],
    make: () => ({
      request: ({ headers }) => ('x-tenant-id' in headers ? reply(403, {}) : undefined),
    }),
  },
  {
    what: 'workspaces that are found with headers only',
    failing: ['workspaces are found with a token alone'],
    make: () => ({
      request: ({ headers, path }) =>
        path.endsWith('/workspaces') && !('x-organization-id' in headers)
          ? reply(400, {})
          : undefined,
    }),
  },
  {
    what: 'a gate that lets everyone in',
    failing: [
      'a wrong secret obtains no token',
      'a call without a token answers 401',
      'tokens that no service issued answer 401',
      'a call without X-Organization-ID answers 400',
      'a call without a tenant selector answers 400',
      'a tenant or organization that does not exist is refused',
      'the tenant header does not reach a tenant that was withdrawn',
      'the token of a person does not open the application API',
      'a client that observes reads, and starts nothing',
    ],
    make: () => accepting(toApplication),
  },
  {
    what: 'requests of any form that are taken',
    failing: [
      'paths work with /v1 and not without it',
      'a stopped session takes no run',
      'a run in a session that has ended is a conflict',
      'a key of a session that has ended answers 412',
      'a request_id does not answer an interaction',
      'a session without files answers 404',
      'unknown fields of bodies are refused',
      'unknown fields inside the input are refused',
      'unknown fields of an answer are refused',
      'a body that is not JSON answers 400',
      'missing and invalid fields answer 400',
      'an invalid query parameter answers 400',
      'ids that do not exist answer 404',
      'an answer can be repeated, but not changed',
    ],
    make: () => accepting(/ /),
  },
  {
    what: 'a refusal that has started a run',
    failing: ['a refused run is not in the list'],
    make: () => {
      let isRefused = false;
      return {
        request({ json }) {
          isRefused = json !== undefined && 'surprise' in json;
          if (isRefused) delete json?.['surprise'];
          return undefined;
        },
        answer(answer, request) {
          if (isRefused && matches(/^POST .*\/runs$/, request)) answer.status = 400;
        },
      };
    },
  },
  {
    what: 'refusals without a code',
    failing: ['every refusal has a code in error'],
    make: () => refusing((body) => delete body['error']),
  },
  {
    what: 'refusals without a message',
    failing: ['every refusal beyond the gate has a message'],
    make: () => refusing((body) => delete body['message']),
  },
  {
    what: 'one code for all refusals',
    failing: ['an unknown status has the code invalid_status'],
    make: () => refusing((body) => (body['error'] = 'bad_request')),
  },
  {
    what: 'tenants that are one',
    failing: [
      'sessions and runs of another tenant answer 404',
      'an interaction of another tenant is not answered',
      'a file of another tenant answers 404',
      'lists of a tenant have no sessions of another',
      'a label of one tenant finds nothing in another',
      'an account belongs to its tenant',
    ],
    make: oneTenant,
  },
  {
    what: 'an account that is read with its secret',
    failing: ['no answer has the secret of an account'],
    make: () => {
      let token: unknown;
      return {
        request({ method, json }) {
          if (method === 'PUT') token = (json?.['auth'] as Json | undefined)?.['token'];
          return undefined;
        },
        ...changing(/^GET .*\/connections/, (body) => ({ ...body, debug: token })),
      };
    },
  },
];

function refusing(change: (body: Json) => void): ReturnType<Wrong['make']> {
  return {
    answer(answer) {
      if (answer.status < 400) return;
      const body = JSON.parse(textOf(answer)) as Json;
      change(body);
      answer.text = JSON.stringify(body);
    },
  };
}

export const wrongTenants: readonly Wrong[] = [
  {
    what: 'a tenant without its attachment state',
    failing: ['a tenant shows its status and attachment state'],
    make: () => without(/^GET .*\/tenants\/\w+$/, 'attachment_state'),
  },
  {
    what: 'a tenant of another name',
    failing: ['a tenant has its fields'],
    make: () => changing(/^GET .*\/tenants\/\w+$/, (body) => ({ ...body, display_name: 'Other' })),
  },
  {
    what: 'a tenant that is ready once',
    failing: ['a created tenant becomes active and ready'],
    make: () => {
      let wasReady = false;
      return changing(/^GET .*\/tenants\/\w+$/, (body) => {
        const isLater = wasReady;
        wasReady ||= body['status'] === 'active' && body['attachment_state'] === 'ready';
        return { ...body, ...(isLater && { status: 'provisioning' }) };
      });
    },
  },
  {
    what: 'a tenant that clients have to be let into',
    failing: ['a client reaches a new tenant without further steps'],
    make: () => pretending(/^GET \/v1\/sessions$/, 403),
  },
  {
    what: 'tenants of any form',
    failing: [
      'a tenant without a name or mode is refused',
      'a mode that is not supported is refused',
      'creating a tenant needs an Idempotency-Key',
      'a retry of a usable tenant is a conflict',
      'offboarding needs the exact id',
      'an offboarded tenant is not provisioned again',
    ],
    make: () => accepting(toManagement),
  },
  {
    what: 'a tenant that is made at once',
    failing: ['creating a tenant answers 202'],
    make: () => ({
      answer(answer, request) {
        if (matches(/^POST .*\/tenants$/, request)) answer.status = 201;
      },
    }),
  },
  {
    what: 'an offboarding that is only said',
    failing: ['offboarding answers 202', 'machine clients lose a tenant at once'],
    make: () => pretending(/:offboard$/, 202),
  },
];
