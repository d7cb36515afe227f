// What the MCP face reads of messages, headers and ids, one row for each of its conditions (D-612 to D-616).
import { interactionKey, limits, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/app/refusal.ts';
import {
  flagsOf,
  meansOf,
  meansOfClient,
  meansOfFlags,
  newClientId,
} from '../../../src/http/faces/mcp/capabilities.ts';
import { McpFault, faultReply } from '../../../src/http/faces/mcp/failure.ts';
import {
  type McpCaller,
  askedIn,
  askedOf,
  topicOfAsk,
  topicOfCall,
} from '../../../src/http/faces/mcp/leaving.ts';
import { type McpHeaders, idOf, readMessage } from '../../../src/http/faces/mcp/messages.ts';
import { eventIdOf, placeIn } from '../../../src/http/faces/mcp/stream-place.ts';

const long = 'x'.repeat(limits.nameMaxCharacters);
const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const meta = { [versionKey]: '2026-07-28', [capabilitiesKey]: {} };

/** A request of the older era. */
const asked = (more: object = {}) => ({ jsonrpc: '2.0', id: 1, method: 'tools/list', ...more });
/** One of the newer era, and the headers that it needs. */
const recent = (params: object = {}, more: object = {}) =>
  asked({ params: { _meta: meta, ...params }, ...more });
const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };

function faultOf(body: unknown, sent: McpHeaders = {}) {
  try {
    return readMessage(body, sent);
  } catch (error) {
    if (!(error instanceof McpFault)) throw error;
    return `${error.reason}: ${error.message}`;
  }
}

describe('a message is', () => {
  test.each<readonly [string, unknown, McpHeaders, object]>([
    [
      'a request with all that it says',
      asked({ id: long, params: { capabilities: { roots: {} }, _meta: { a: 1 } } }),
      {},
      {
        kind: 'request',
        id: long,
        method: 'tools/list',
        params: { capabilities: { roots: {} }, _meta: { a: 1 } },
        isOld: true,
        capabilities: { roots: {} },
      },
    ],
    ['a request without parameters', asked(), {}, { params: {}, capabilities: {} }],
    ['one with an envelope that is none', asked({ params: { _meta: [] } }), {}, { isOld: true }],
    [
      'one whose capabilities are none',
      asked({ params: { capabilities: [1] } }),
      {},
      { capabilities: {} },
    ],
    [
      'one that settles the version',
      asked({ method: 'initialize' }),
      { 'mcp-protocol-version': '1999-01-01' },
      {},
    ],
    [
      'one of a known version',
      asked(),
      { 'mcp-protocol-version': ' 2025-03-26 ' },
      { isOld: true },
    ],
    ['one whose header is empty', asked(), { 'mcp-protocol-version': ' ' }, { isOld: true }],
    [
      'one of the newer era',
      recent({
        _meta: { ...meta, [capabilitiesKey]: { elicitation: {} } },
        capabilities: { old: 1 },
      }),
      headers,
      { kind: 'request', isOld: false, capabilities: { elicitation: {} } },
    ],
    [
      'a call of a tool, with its name in a header',
      recent({ name: 'ä' }, { method: 'tools/call' }),
      { ...headers, 'mcp-method': 'tools/call', 'mcp-name': ' =?base64?w6Q=?= ' },
      { method: 'tools/call' },
    ],
    [
      'a call of a tool without a name, which needs no header',
      recent({ name: 7 }, { method: 'tools/call' }),
      { ...headers, 'mcp-method': 'tools/call' },
      { method: 'tools/call' },
    ],
    ['another method with a name', recent({ name: 'x' }), headers, { method: 'tools/list' }],
    [
      'a notification, which needs no headers',
      { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: meta } },
      {},
      { kind: 'notification', method: 'notifications/x', isOld: false },
    ],
    [
      'a response',
      { jsonrpc: '2.0', id: 'a', result: { action: 'accept' } },
      {},
      { kind: 'response', id: 'a', result: { action: 'accept' }, isOld: true },
    ],
    ['an error', { jsonrpc: '2.0', id: 1, error: {} }, {}, { kind: 'response', result: undefined }],
  ])('%s', (_, ...[body, sent, expected]) => {
    const read = faultOf(body, sent);
    expect(read).toEqual({ ...Object(read), ...expected });
  });

  const one = 'INVALID_REQUEST: The body must be one message of JSON-RPC 2.0.';
  const other =
    'UNSUPPORTED_VERSION: The version must be one of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26.';
  test.each<readonly [string, unknown, McpHeaders, string]>([
    [
      'bytes that are not JSON',
      new Refusal('invalid_json', { message: 'not JSON' }),
      {},
      'PARSE_ERROR: not JSON',
    ],
    ['several', [asked()], {}, 'INVALID_REQUEST: Send one message at a time.'],
    ['a number', 7, {}, one],
    ['an id with a fraction', asked({ id: 1.5 }), {}, one],
    ['a long id', asked({ id: `${long}x` }), {}, one],
    ['an empty method', asked({ method: '' }), {}, one],
    ['a long method', asked({ method: `${long}x` }), {}, one],
    ['parameters in a list', asked({ params: [] }), {}, one],
    ['neither a result nor an error', { jsonrpc: '2.0', id: 1 }, {}, one],
    ['a result and an error', { jsonrpc: '2.0', id: 1, result: {}, error: {} }, {}, one],
    ['a result that is a text', { jsonrpc: '2.0', id: 1, result: 'x' }, {}, one],
    ['a response without an id', { jsonrpc: '2.0', result: {} }, {}, one],
    ['an unknown version', asked(), { 'mcp-protocol-version': '1999-01-01' }, other],
    [
      'the newest version without an envelope',
      asked(),
      { 'mcp-protocol-version': '2026-07-28' },
      `INVALID_ENVELOPE: params._meta must have ${versionKey}, as the header says.`,
    ],
    [
      'a version that is no text',
      recent({ _meta: { ...meta, [versionKey]: 7 } }),
      headers,
      `INVALID_ENVELOPE: ${versionKey} must be a string.`,
    ],
    [
      'no capabilities',
      recent({ _meta: { [versionKey]: '2026-07-28' } }),
      headers,
      `INVALID_ENVELOPE: ${capabilitiesKey} must be an object.`,
    ],
    [
      'an older version in the envelope',
      recent({ _meta: { ...meta, [versionKey]: '2025-11-25' } }),
      { ...headers, 'mcp-protocol-version': '2025-11-25' },
      other,
    ],
    [
      'no header of the version',
      recent(),
      { 'mcp-method': 'tools/list' },
      'HEADER_MISMATCH: The header MCP-Protocol-Version is missing.',
    ],
    [
      'another method in the header',
      recent(),
      { ...headers, 'mcp-method': 'ping' },
      'HEADER_MISMATCH: The header Mcp-Method differs from the body.',
    ],
    [
      'no name in the header',
      recent({ name: 'x' }, { method: 'tools/call' }),
      { ...headers, 'mcp-method': 'tools/call' },
      'HEADER_MISMATCH: The header Mcp-Name is missing.',
    ],
    [
      'a name that only looks encoded',
      recent({ name: 'x' }, { method: 'tools/call' }),
      { ...headers, 'mcp-method': 'tools/call', 'mcp-name': '=?base64?x' },
      'HEADER_MISMATCH: The header Mcp-Name differs from the body.',
    ],
  ])('none with %s', (_, ...[body, sent, fault]) => {
    expect(faultOf(body, sent)).toBe(fault);
  });

  test('answered under its id, where it has one', () => {
    expect([{ id: 7 }, { id: 'a' }, { id: null }, {}, 'x'].map(idOf)).toEqual([
      7,
      'a',
      null,
      null,
      null,
    ]);
  });
});

test('a fault has the status of its era, and says no more of a version than a name has', () => {
  const unknown = new McpFault('METHOD_NOT_FOUND', 'none');
  const invalid = new McpFault('INVALID_REQUEST', 'no', { a: 1 });
  expect([true, false].map((isOld) => faultReply(1, unknown, isOld).status)).toEqual([200, 404]);
  expect([true, false].map((isOld) => faultReply(1, invalid, isOld).status)).toEqual([400, 400]);
  expect(faultReply(1, unknown, true).body.error).toStrictEqual({ code: -32601, message: 'none' });
  expect(faultReply(1, invalid, true).body.error).toMatchObject({ data: { a: 1 } });
  const version = `2099${long}`;
  const body = recent({ _meta: { ...meta, [versionKey]: version } });
  expect(() => readMessage(body, { ...headers, 'mcp-protocol-version': version })).toThrow(
    expect.objectContaining({
      data: expect.objectContaining({ requested: version.slice(0, long.length) }),
    }),
  );
});

describe('how a client can ask its user', () => {
  test.each([
    [{}, ''],
    [{ elicitation: [] }, ''],
    [{ elicitation: {} }, 'f'],
    [{ elicitation: { form: {} } }, 'f'],
    [{ elicitation: { url: {} } }, 'u'],
    [{ elicitation: { url: true } }, 'f'],
    [{ elicitation: { form: {}, url: {} } }, 'fu'],
  ])('is kept in its id: %o is "%s"', (capabilities, flags) => {
    const means = meansOf(capabilities);
    expect(flagsOf(means)).toBe(flags);
    expect(meansOfFlags(flags)).toEqual(means);
    const id = newClientId(capabilities);
    expect(id).toMatch(new RegExp(String.raw`^mcp_[\w-]{20}\.${flags}$`));
    expect(meansOfClient(id)).toEqual(means);
  });

  test.each([
    undefined,
    '',
    'fu',
    'x.fu',
    'mcp_.fu',
    'mcp_a.fuf',
    'mcp_a.x',
    'mcp_a/b.fu',
    `mcp_${'a'.repeat(41)}.fu`,
  ])('is not known of a client that is called %s', (id) => {
    expect(meansOfClient(id)).toEqual({ forms: false, urls: false });
  });
});

describe('the place of a stream', () => {
  const place = { runId: 'run_1', rpcId: 7, means: { forms: true, urls: true }, asked: 'int_1' };
  const idWith = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString('base64url');

  test.each([
    [place],
    [{ ...place, rpcId: 'a', means: { forms: false, urls: false } }],
    [{ ...place, asked: undefined }],
  ])('is the id of its last event: %o', (known) => {
    expect(placeIn(eventIdOf(known))).toEqual(known);
  });

  test.each([
    ['no JSON', 'e'],
    ['another shape', idWith(['run_1', 7, ''])],
    ['a fraction', idWith(['run_1', 1.5, '', ''])],
    ['a long run', idWith([`${long}x`, 7, '', ''])],
    ['a long id', idWith(['run_1', 7, '', '']).padEnd(2049, ' ')],
  ])('is in no id that the server did not make: %s', (_, id) => {
    expect(placeIn(id)).toBe(undefined);
  });
});

describe('what wakes a call', () => {
  const callerWith = (tenantId: string, subject: string, clientId?: string) =>
    ({ caller: { scope: { tenantId }, subject }, clientId }) as unknown as McpCaller;
  const own = callerWith('ten_1', 'cli_1', 'mcp_1.');

  test('is the response to its own id, for its own client', () => {
    const topics = [
      topicOfCall(own, 1),
      topicOfCall(own, '1'),
      topicOfCall(own, 2),
      topicOfCall(callerWith('ten_2', 'cli_1', 'mcp_1.'), 1),
      topicOfCall(callerWith('ten_1', 'cli_2', 'mcp_1.'), 1),
      topicOfCall(callerWith('ten_1', 'cli_1', 'mcp_2.'), 1),
    ];
    expect(new Set(topics).size).toBe(topics.length);
    expect(topicOfCall(own, 1)).toBe(topics[0]);
    expect(topicOfCall(callerWith('ten_1', 'cli_1'), 1)).toBe(undefined);
    expect(topicOfCall(own, long.repeat(100))).toHaveLength('left:'.length + 43);
  });

  test('is the form about an interaction, for every client of the tenant', () => {
    const one = { tenantId: tenantId('ten_1') };
    const topics = [
      topicOfAsk(one, 'int_1'),
      topicOfAsk(one, 'int_2'),
      topicOfAsk({ tenantId: tenantId('ten_2') }, 'int_1'),
    ];
    expect(new Set(topics).size).toBe(topics.length);
    expect(topicOfAsk({ ...one }, 'int_1')).toBe(topics[0]);
  });

  test.each([
    ['sess_1/int_1', { sessionId: sessionId('sess_1'), key: interactionKey('int_1') }],
    ['sess_1', undefined],
    ['/int_1', undefined],
    ['sess_1/', undefined],
    ['sess_1/int_1/', undefined],
    ['sess 1/int_1', undefined],
    ['sess_1/int 1', undefined],
    [7, undefined],
  ])('is named by the id of a response: %s', (id, named) => {
    expect(askedIn(id)).toEqual(named);
  });

  test('has the id of the request that the client got', () => {
    const run = { sessionId: sessionId('sess_1') } as Parameters<typeof askedOf>[0];
    expect(askedIn(askedOf(run, 'int_1'))).toEqual({ sessionId: 'sess_1', key: 'int_1' });
  });
});
