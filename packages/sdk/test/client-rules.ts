import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root } from '../../../test/repository.ts';
import { type Answer, answering, inTurn, json, noAnswer, refusal } from './answering.ts';
import type { Fault, FaultServer, LogEvent, Play } from './fault-server.ts';

/** What a server does with one request: answers, drops the connection, says nothing, or is not there at all. */
type AnswerRule =
  | 'lost'
  | 'silent'
  | 'gone'
  | {
      readonly status: number;
      readonly code?: string;
      readonly body?: object;
      readonly text?: string;
      readonly retry_after?: string;
      readonly request_id?: string;
      readonly location?: string;
    };

/**
 * One rule about requests: what the server answers, one answer a request and the last one for ever, and what comes of
 * it.
 */
export interface RequestRule {
  readonly rule: string;
  readonly call: string;
  /** Calls at the same time; one if absent. */
  readonly times?: number;
  readonly attempts?: number;
  readonly timeout_ms?: number;
  /** The client asks for tokens; what the token endpoint answers before it issues token-1, token-2, …. */
  readonly tokens?: { readonly answers?: readonly AnswerRule[]; readonly accepted?: string };
  readonly answers: readonly AnswerRule[];
  readonly expect: {
    readonly result?: object;
    readonly error?: Readonly<Record<string, unknown>>;
    readonly requests?: number;
    readonly tokens?: number;
    /** How many different bodies were sent. */
    readonly bodies?: number;
    readonly body?: Readonly<Record<string, unknown>>;
  };
}

export interface FollowRule {
  readonly rule: string;
  readonly faults?: readonly Fault[];
  readonly fault_times?: number;
  readonly play?: Partial<Play>;
  readonly after?: string;
  readonly silence_ms?: number;
  readonly patience_ms?: number;
  readonly expect: {
    /** The whole log if absent. */
    readonly events?: readonly string[];
    readonly code?: string;
    readonly cursors?: readonly (string | null)[];
    readonly reads?: number;
  };
}

export interface PauseRule {
  readonly failure: 'lost' | { readonly status: number; readonly retry_after?: number };
  readonly repeatable: 'always' | 'refused' | 'never';
  /** The longest pause after the first attempt, the second, …; null for no retry. */
  readonly pauses_ms: readonly (number | null)[];
}

interface ClientRules {
  readonly requests: readonly RequestRule[];
  readonly pauses: readonly PauseRule[];
  readonly log: readonly LogEvent[];
  readonly follow: readonly FollowRule[];
}

/** For `test.each`: a title in full, which the placeholder of a field would cut. */
export const titled = <Rule extends { readonly rule: string }>(rules: readonly Rule[]) =>
  rules.map((rule) => [rule.rule, rule] as const);

/** The rules that the clients of every language keep (D-226). */
export const clientRules: ClientRules = JSON.parse(
  readFileSync(join(root, 'packages/contract/fixtures/client-rules.json'), 'utf8'),
);

/** One call of a client, as its program in each language reads it. */
export interface Question {
  readonly base_url: string;
  readonly call: string;
  readonly times: number;
  readonly attempts: number;
  /** Whether the client has a token, so that it asks for none. */
  readonly token: boolean;
  readonly timeout_ms: number;
}

export interface Outcome {
  readonly result?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
}

/** An error never shows it. */
export const clientSecret = 'cvk_secret';
const patientMs = 60_000;

/** Plays the server of a rule for one client, and says what came of it in the words of the rule. */
export async function observeRequests(
  { call, times = 1, attempts = 4, timeout_ms = patientMs, tokens, answers }: RequestRule,
  perform: (question: Question) => Promise<Outcome>,
) {
  const answer = inTurn(...answers.map(answerOf));
  const service = tokens === undefined ? answer : issuing(tokens, answer);
  await using server = await answering(service);
  if (answers.includes('gone')) await server[Symbol.asyncDispose]();
  const { baseUrl: base_url } = server;
  const token = tokens === undefined;
  const outcome = await perform({ base_url, call, times, attempts, token, timeout_ms });
  if (JSON.stringify(outcome).includes(clientSecret)) throw new Error('the secret is shown');
  const sent = server.seen.filter(({ path }) => path !== tokenPath);
  return {
    ...outcome,
    requests: sent.length,
    tokens: server.seen.length - sent.length,
    bodies: new Set(sent.map(({ body }) => body)).size,
    body: JSON.parse(sent[0]?.body || '{}') as unknown,
  };
}

/** What a rule expects. The message of an error is a pattern, and the key `*` is one that the client made. */
export function expectedRequests({ expect: { error, body, ...rest } }: RequestRule) {
  const message = error?.['message'] as string | undefined;
  const said = message !== undefined && {
    message: expect.stringMatching(new RegExp(message, 'i')),
  };
  const idempotency_key = expect.stringMatching(/^[0-9a-f]{32}$/);
  return {
    ...rest,
    ...(error && { error: { ...error, ...said } }),
    ...(body && { body: { ...body, ...(body['idempotency_key'] === '*' && { idempotency_key }) } }),
  };
}

const tokenPath = '/v1/oauth/token';

function issuing(
  { answers = [], accepted }: NonNullable<RequestRule['tokens']>,
  answer: Answer,
): Answer {
  let issued = 0;
  const issue: Answer = (seen, response) => {
    issued += 1;
    const access_token = `token-${issued}`;
    return json(200, { access_token, expires_in: 600 })(seen, response);
  };
  const tokens = inTurn(...answers.map(answerOf), issue);
  return (seen, response) => {
    if (seen.path === tokenPath) return tokens(seen, response);
    const isAccepted =
      accepted === undefined || seen.headers['authorization'] === `Bearer ${accepted}`;
    return (isAccepted ? answer : refusal(401, 'unauthorized'))(seen, response);
  };
}

function answerOf(rule: AnswerRule): Answer {
  if (rule === 'lost') return noAnswer;
  if (typeof rule === 'string') return () => {};
  const { status, code = 'refused', body, text, retry_after, request_id, location } = rule;
  const headers: Record<string, string> = {};
  if (retry_after !== undefined) headers['retry-after'] = retry_after;
  if (request_id !== undefined) headers['x-request-id'] = request_id;
  if (location !== undefined) headers['location'] = location;
  if (text !== undefined)
    return (_seen, response) => void response.writeHead(status, headers).end(text);
  return body === undefined ? refusal(status, code, headers) : json(status, body, headers);
}

/** Begins the run of a rule; returns its id. */
export function playRule(server: FaultServer, { faults = [], fault_times = 1, play }: FollowRule) {
  const repeated = Array.from({ length: fault_times }, () => faults).flat();
  return server.play({ ...play, log: clientRules.log, faults: repeated });
}

/** What a reader of that run saw, with what the server saw of it. */
export function observeFollow(
  server: FaultServer,
  { expect: expected }: FollowRule,
  seen: { readonly events: readonly string[]; readonly code: string | null },
) {
  const { cursors, reads } = server;
  return {
    ...seen,
    ...(expected.cursors && { cursors: cursors.map((cursor) => cursor ?? null) }),
    ...(expected.reads !== undefined && { reads }),
  };
}

export function expectedFollow({ expect: { events, code, ...server } }: FollowRule) {
  const all = clientRules.log.map(({ id }) => id);
  return { events: events ?? all, code: code ?? null, ...server };
}
