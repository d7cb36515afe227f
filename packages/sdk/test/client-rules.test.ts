import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  ConflictError,
  ConnectionError,
  Convoke,
  ConvokeError,
  RateLimitError,
  ServerError,
} from '../src/index.ts';
import { defaultRetry, delayBeforeRetry } from '../src/transport/retry.ts';
import {
  type Outcome,
  type PauseRule,
  type Question,
  clientRules,
  clientSecret,
  expectedFollow,
  expectedRequests,
  observeFollow,
  observeRequests,
  playRule,
  titled,
} from './client-rules.ts';
import { clientAt } from './answering.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

describe('requests', () => {
  test.each(titled(clientRules.requests))('%s', async (_rule, rule) => {
    expect(await observeRequests(rule, perform)).toMatchObject(expectedRequests(rule));
  });
});

const calls: Readonly<Record<string, (convoke: Convoke) => Promise<unknown>>> = {
  whoami: (convoke) => convoke.whoami(),
  create_schedule: (convoke) =>
    convoke.schedules.create({
      name: 'n',
      agent_name: 'a',
      cron: '* * * * *',
      input: { prompt: 'Hi' },
    }),
  create_session: async (convoke) => ({ id: (await convoke.sessions.create('demo')).id }),
  start_run: async (convoke) => ({
    id: (await sessionOf(convoke).run('Hello', { idempotencyKey: 'order-7' })).id,
  }),
  prepare_file: (convoke) => sessionOf(convoke).files.prepare({ name: 'a.txt' }),
  delete_file: (convoke) => sessionOf(convoke).files.delete('file_1'),
  cancel: (convoke) => sessionOf(convoke).runs.at('run_1').cancel(),
  stop: (convoke) => sessionOf(convoke).stop(),
  terminate: (convoke) => sessionOf(convoke).stop({ mode: 'terminate' }),
  resume: (convoke) => sessionOf(convoke).resume(),
  answer: (convoke) => sessionOf(convoke).interactions.answer('int_1', { decision: 'allow' }),
  rotate_secret: (convoke) => convoke.webhooks.rotate('wh_1'),
};

function sessionOf(convoke: Convoke) {
  return convoke.sessions.at('sess_1');
}

async function perform(question: Question): Promise<Outcome> {
  const { base_url: baseUrl, call, times, attempts, token, timeout_ms: timeoutMs } = question;
  const convoke = new Convoke({
    baseUrl,
    ...(token ? { token: 'a-token' } : { clientId: 'oac_1', clientSecret }),
    workspace: { organizationId: 'org_1', tenantId: 'ten_1' },
    retry: { attempts, baseMs: 1, maxMs: 2 },
    timeoutMs,
  });
  try {
    const results = Array.from({ length: times }, async () => calls[call]?.(convoke));
    return { result: (await Promise.all(results))[0] };
  } catch (error) {
    if (!(error instanceof ConvokeError)) throw error;
    const { name, code, status, message, attempts: made, unsure, requestId, retryAfter } = error;
    const facts = { request_id: requestId, retry_after: retryAfter };
    return { error: { name, code, status, message, attempts: made, unsure, ...facts } };
  }
}

describe('the longest pause before the next attempt', () => {
  test.each(clientRules.pauses)('$failure, $repeatable', ({ failure, repeatable, pauses_ms }) => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(1);
    const pauses = pauses_ms.map((_pause, index) => {
      const context = { repeatable, policy: defaultRetry, attempt: index + 1 };
      return delayBeforeRetry(errorOf(failure), context) ?? null;
    });
    random.mockRestore();
    expect(pauses).toEqual(pauses_ms);
  });
});

function errorOf(failure: PauseRule['failure']): ConvokeError {
  if (failure === 'lost') return new ConnectionError('', { code: 'connection_failed' });
  const { status, retry_after: retryAfter } = failure;
  const Family = status === 429 ? RateLimitError : status < 500 ? ConflictError : ServerError;
  return new Family('', { code: 'internal', status, retryAfter });
}

describe('following continues over', () => {
  let server: FaultServer;
  beforeAll(async () => {
    server = await startFaultServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(titled(clientRules.follow))('%s', async (_rule, rule) => {
    const { after, silence_ms: silenceMs = 20_000, patience_ms: patienceMs } = rule;
    const run = clientAt(server).sessions.at('sess_1').runs.at(playRule(server, rule));
    const events: string[] = [];
    let code: string | null = null;
    try {
      const options = { silenceMs, ...(patienceMs !== undefined && { patienceMs }) };
      for await (const event of run.follow({ after, ...options })) events.push(event.id);
    } catch (error) {
      if (!(error instanceof ConvokeError)) throw error;
      code = error.code;
    }
    expect(observeFollow(server, rule, { events, code })).toEqual(expectedFollow(rule));
  });
});
