// D-488: the kit sees each of these deviations. They are made by a proxy in front of our server.
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { startCheckedServer } from './checked-server.ts';
import type { Deviation, Returned } from './deviating-proxy.ts';

const server = await startCheckedServer();
atFileEnd(() => server.close());

const refusal: Returned = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '0' },
  text: '{"error":"rate_limited"}',
};

test('spec §7: a request that is refused with 429 is repeated when the service says', async () => {
  const refused = new Set<string>();
  const refuseOnce: Deviation = {
    request({ method, path }) {
      const isFirst = !refused.has(`${method} ${path}`);
      refused.add(`${method} ${path}`);
      return isFirst ? refusal : undefined;
    },
  };
  const ids = ['4.2-events', '4.2-invoke', '4.3-rename', '5-exchange'];
  const results = await server.resultsBehind(refuseOnce, ids);
  expect([...results.values()].map(({ outcome }) => outcome)).toEqual(ids.map(() => 'pass'));
  // Streams, the token endpoint and the management API are waited for alike.
  const asked = [...refused].join('\n');
  for (const part of ['/events', '/runs', 'PATCH', '/oauth/token']) expect(asked).toContain(part);
});

test('a service that asks for a longer wait than the kit has is reported as it answers', async () => {
  const later = { ...refusal, headers: { ...refusal.headers, 'retry-after': '3600' } };
  const away: Deviation = { request: ({ path }) => (path === '/v1/whoami' ? later : undefined) };
  const result = (await server.resultsBehind(away, ['4.2-whoami'])).get('4.2-whoami');
  expect(result?.outcome).toBe('fail');
  expect(result?.checks[0]?.message).toContain('expected 200, got 429');
});

type Json = Record<string, unknown>;

/** Changes the JSON of answers to requests whose method and path match. */
function answering(pattern: RegExp, change: (body: Json) => void): Deviation {
  return {
    answer(answer, { method, path }) {
      if (!pattern.test(`${method} ${path}`) || answer.status !== 200) return;
      const body = JSON.parse(Buffer.from(answer.text, 'latin1').toString()) as Json;
      change(body);
      answer.text = Buffer.from(JSON.stringify(body)).toString('latin1');
    },
  };
}

/** Takes the unknown field out of what is sent, as a service that ignores it. */
function ignoring(pattern: RegExp, bodyOf: (json: Json) => Json | undefined): Deviation {
  return {
    request({ method, path, json }) {
      const body =
        json !== undefined && pattern.test(`${method} ${path}`) ? bodyOf(json) : undefined;
      if (body !== undefined) delete body['surprise'];
      return undefined;
    },
  };
}

/** Forgets every key as soon as `isOld` says so. */
function forgettingKeys(isOld: (key: string) => boolean): Deviation {
  return {
    request({ json }) {
      const key = json?.['idempotency_key'];
      if (json !== undefined && typeof key === 'string' && isOld(key))
        delete json['idempotency_key'];
      return undefined;
    },
  };
}

const interactionsOf = (body: Json) => body['interactions'] as Json[];
const ofHarness = /^event: (?!run_started|run_c|error|message_delta|permission_|user_)/m;
const clientOf = (body: Json) => body['client'] as Json;

const deviations: Readonly<Record<string, { id: string; make: () => Deviation }>> = {
  'a terminal event that comes twice': {
    id: '6-r4',
    make: () => ({
      frame: (frame) => (/^event: (run_completed|error)$/m.test(frame) ? frame + frame : frame),
    }),
  },
  'an event after the terminal one': {
    id: '6-r4',
    make: () => ({
      frame: (frame) =>
        /^event: run_cancelled$/m.test(frame)
          ? frame + frame.replaceAll('run_cancelled', 'message_delta')
          : frame,
    }),
  },
  'a second credential for one key': {
    id: '4.3-credential-once',
    make: () => {
      let count = 0;
      return {
        request({ method, path, headers }) {
          if (method !== 'POST' || !path.endsWith('/credentials')) return undefined;
          count += 1;
          headers['idempotency-key'] = `another-key-${count}`;
          return undefined;
        },
      };
    },
  },
  'a second run for a key that comes again after two seconds': {
    id: '4.2-key-later',
    make: () => {
      const firstAt = new Map<string, number>();
      return forgettingKeys((key) => {
        const first = firstAt.get(key) ?? performance.now();
        firstAt.set(key, first);
        return performance.now() - first > 2_000;
      });
    },
  },
  'a field inside the input that is ignored': {
    id: '1-unknown-field',
    make: () => ignoring(/^POST .*\/runs$/, (json) => json['input'] as Json | undefined),
  },
  'a field of an answer that is ignored': {
    id: '1-unknown-field',
    make: () => ignoring(/^POST .*\/answer$/, (json) => json),
  },
  'a 204 of the management API that may be stored': {
    id: '1-no-store',
    make: () => ({
      answer({ status, headers }) {
        if (status === 204) delete headers['cache-control'];
      },
    }),
  },
  'a client that is read with another secret': {
    id: '4.3-get-client',
    make: () =>
      answering(/^GET .*\/m2m\/cli_/, (body) => {
        clientOf(body)['client_secret'] = 'another';
      }),
  },
  'a later response with a member for the secret': {
    id: '2-client-secret',
    make: () =>
      answering(/^GET .*\/m2m\/cli_/, (body) => {
        body['client_secret'] = null;
      }),
  },
  'a one-shot that ignores its key': {
    id: 'convoke-one-shot-key',
    make: () => ({
      request({ path, json }) {
        if (path.startsWith('/v1/agents/')) delete json?.['idempotency_key'];
        return undefined;
      },
    }),
  },
  'a list of accounts with a secret': {
    id: 'convoke-secret-account',
    make: () => {
      let { token }: Json = {};
      return {
        request({ method, json }) {
          if (method === 'PUT') ({ token } = { ...(json?.['auth'] as Json) });
          return undefined;
        },
        ...answering(/^GET .*\/v1\/connections/, (body) => {
          body['debug'] = token;
        }),
      };
    },
  },
  'accounts that every tenant sees': {
    id: 'convoke-own-account',
    make: () =>
      answering(/^GET .*\/v1\/connections/, (body) => {
        body['connections'] = [{}];
      }),
  },
  'another input in the record of a permission': {
    id: '6-exact-input',
    make: () =>
      answering(/\/interactions$/, (body) => {
        for (const each of interactionsOf(body)) each['tool_input'] = { path: 'other.txt' };
      }),
  },
  'an event of a harness without its run': {
    id: '6-r5',
    make: () => ({
      frame: (frame) =>
        ofHarness.test(frame) ? frame.replace(/"run_id":"\w+"/, '"run_id":"other"') : frame,
    }),
  },
};

test.each(Object.entries(deviations))('the kit sees %s', async (_, { id, make }) => {
  const result = (await server.resultsBehind(make(), [id])).get(id);
  expect(result?.outcome).toBe('fail');
});

test('what a service does not show is not applicable', async () => {
  const bare: Deviation = {
    ...answering(/\/interactions$/, (body) => {
      for (const each of interactionsOf(body)) delete each['tool_input'];
    }),
    frame: (frame) => (ofHarness.test(frame) ? '' : frame),
  };
  const results = await server.resultsBehind(bare, ['6-exact-input', '6-r5']);
  const outcomes = [...results.values()].map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['not applicable', 'not applicable']);
});

test('our server behind a proxy that changes nothing passes the same checks', async () => {
  const ids = [...new Set(Object.values(deviations).map(({ id }) => id))];
  const results = await server.resultsBehind({}, ids);
  const failed = [...results.values()].filter(({ outcome }) => outcome !== 'pass');
  expect(failed.map(({ checks }) => checks)).toEqual([]);
});
