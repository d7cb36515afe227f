import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type OperationId,
  errors,
  operationList,
  operations,
  pathParams,
  requiredScopes,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { anonymous } from '../support/checked-calls.ts';
import { journalFolder } from '../support/coverage/journal-folder.ts';
import { readJournal } from '../support/coverage/journal.ts';
import {
  type Exemption,
  coverageGaps,
  declaredAnswers,
  nameOf,
  staleExemptions,
} from '../support/coverage/operations-coverage.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { validCalls } from '../support/valid-calls.ts';

/** The configuration runs this file after every other, so it sees what they all observed. */
const here = new URL('.', import.meta.url);

const pure = 'it reads nothing that could fail; every operation that does is shown to bear a fault';
const anyJson = 'any JSON is the data of a message, so none has the wrong shape';
const exemptions: readonly Exemption[] = (
  [
    'get_metadata',
    'get_resource_metadata',
    'get_health',
    'get_readiness',
    'get_openapi',
    'get_docs',
    'get_guide',
    'get_reference_page',
    'get_search_index',
    'get_agent_card',
  ] as const
)
  .map((operation): Exemption => ({ operation, status: 500, code: 'internal', because: pure }))
  .concat({
    operation: 'receive_callback',
    status: 400,
    code: 'invalid_body',
    because: anyJson,
  });

describe('every declared operation', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });

  test.each(operationList)('$id is routed, by a method and path of its own', async (operation) => {
    const { method, path, caller } = operation;
    const url = path.replace(/\{(\w+)\}/g, 'x');
    const { status, text } = await server.call(method, url, { as: anonymous });
    const isOpen = caller === 'anonymous';
    expect(isOpen ? [200, 400, 404] : [401]).toContain(status);
    // An operation says what it did not find; a path without an operation cannot.
    if (status === 404) expect(JSON.parse(text).message).not.toBe(errors.not_found.message);
    const same = operationList.filter(
      (other) => other.method === method && other.path.replace(/\{(\w+)\}/g, 'x') === url,
    );
    expect(same).toEqual([operation]);
  });

  test.each(operationList)('$id has scopes, or a reason for having none (D-54)', (operation) => {
    const { scope } = operation;
    const reason = typeof scope === 'object' && 'unscoped' in scope ? scope.unscoped : '';
    expect(requiredScopes(operation).length > 0 || reason.length > 10).toBe(true);
    // Without a scope, an operation needs a human's role, a token, or is a public document.
    if (operation.caller === 'automation' && operation.id !== 'whoami') {
      expect(requiredScopes(operation)).not.toEqual([]);
    }
  });

  test.each(operationList)('$id declares the body of each success', ({ id, responses }) => {
    for (const [status, { schema, stream, media }] of Object.entries(responses)) {
      const isEmpty = schema === undefined && stream === undefined && media === undefined;
      // The Model Context Protocol answers a notification with 202 and no body.
      const mayBeEmpty = ['204', '304', ...(id === 'call_mcp' ? ['202'] : [])];
      expect(isEmpty).toBe(mayBeEmpty.includes(status));
    }
  });

  test.each(operationList)('$id declares every parameter of its path', ({ path, params }) => {
    expect(Object.keys(params ?? {}).sort()).toEqual(pathParams(path).sort());
  });

  test('has a call that succeeds', () => {
    const ids = Object.keys(operations) as OperationId[];
    expect(Object.keys(validCalls).sort()).toEqual(ids.sort());
  });
});

describe('the answers that the tests observed', () => {
  /** Every test file that calls a server through `Calls`. */
  const files = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.test.ts') &&
      name !== 'operations-coverage.last.test.ts' &&
      /from '(\.\.\/)+support\/(bare-|puppet-)?server\.ts'/.test(
        readFileSync(new URL(name, here), 'utf8'),
      ),
  );

  test('are all answers that the contract declares', (context) => {
    const folder = journalFolder();
    const journal = folder === undefined ? undefined : readJournal(folder);
    const left = files.filter((name) => !journal?.files.has(basename(name)));
    // A run of selected files cannot show what the whole suite observes.
    if (journal === undefined || left.length > 0) {
      return context.skip(`not every test of test/http was run: ${left.join(', ')}`);
    }
    // Answers that depend on timing may be missing in the next run.
    const observations = journal.observations.filter(
      ({ file }) => file !== 'bad-input.slow.test.ts',
    );
    expect(coverageGaps(operationList, observations, exemptions)).toEqual([]);
    expect(staleExemptions(operationList, observations, exemptions)).toEqual([]);
  });

  test('are incomplete, by name, when a single one is missing', () => {
    const all = operationList.flatMap(declaredAnswers);
    expect(coverageGaps(operationList, all)).toEqual([]);
    for (const one of all) {
      const others = all.filter((other) => other !== one);
      expect(coverageGaps(operationList, others)).toEqual([nameOf(one)]);
    }
  });

  test('every exemption has a reason', () => {
    for (const { because } of exemptions) expect(because.length).toBeGreaterThan(30);
  });
});
