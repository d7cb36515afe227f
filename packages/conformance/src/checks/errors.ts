import { type Check, check } from '../check.ts';
import { ensure, excerpt, isRecord, same } from '../failure.ts';
import { at, fill, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { type Reply, type Request, hasStatus } from '../server.ts';
import { runPath, sessionPath } from '../steps.ts';
import { alike } from './unknown-ids.ts';

/** Requests of every kind that the service has to refuse with 400. */
async function badRequests(kit: Kit): Promise<readonly Request[]> {
  const { echo } = kit.agentNames;
  const { at: run } = await kit.seen('echo');
  const runs = sessionPath(run.sessionId, '/runs');
  const json = { 'content-type': 'application/json' };
  return [
    { method: 'POST', path: '/v1/sessions', headers: json, bytes: '{"agent_name": ' },
    { method: 'POST', path: '/v1/sessions', json: {} },
    { method: 'POST', path: '/v1/sessions', json: { agent_name: 7 } },
    { method: 'POST', path: '/v1/sessions', json: { agent_name: echo, surprise: true } },
    { method: 'POST', path: runs, json: { input: 'a text' } },
  ];
}

async function refusals(kit: Kit): Promise<Reply[]> {
  const { at: run } = await kit.seen('echo');
  const absent = runPath({ ...run, runId: alike(run.runId) });
  const bad = (await badRequests(kit)).map((request) => kit.app.send(request));
  return await Promise.all([...bad, kit.app.get(absent), kit.app.get('/v1/no-such-thing')]);
}

function surprising(body: unknown): unknown {
  return { ...(isRecord(body) ? body : {}), surprise: true };
}

export const errorChecks: readonly Check[] = [
  check('1-json', 'responses of the application API are JSON', async (kit) => {
    const { at: run } = await kit.seen('echo');
    for (const path of ['/v1/whoami', '/v1/agents', sessionPath(run.sessionId), runPath(run)]) {
      const reply = hasStatus(await kit.app.get(path), 200);
      const type = reply.headers.get('content-type') ?? '';
      ensure(type.startsWith('application/json'), `${path} has the content type ${type}`);
      ensure(reply.body !== undefined, `${path} is not JSON`);
    }
  }),
  check('1-unknown-field', 'unknown fields of bodies are refused', async (kit) => {
    const body = { agent_name: kit.agentNames.echo, surprise: true };
    hasStatus(await kit.app.post('/v1/sessions', body), 400);
    const { at: run } = await kit.seen('echo');
    const start = { input: kit.steps.input('x'), surprise: true };
    hasStatus(await kit.app.post(sessionPath(run.sessionId, '/runs'), start), 400);
    hasStatus(await kit.app.post(runPath(run, '/cancel'), { surprise: true }), 400);
  }),
  check('1-unknown-field', 'unknown fields inside the input are refused', async (kit) => {
    const path = sessionPath(await kit.openSession('echo'), '/runs');
    const input = surprising(kit.steps.input('x'));
    hasStatus(await kit.app.post(path, { input }), 400);
  }),
  check('1-unknown-field', 'unknown fields of an answer are refused', async (kit) => {
    const run = await kit.begin('ask');
    await kit.steps.until(run, 'user_question');
    const key = await kit.steps.pendingKey(run.sessionId);
    const answer = surprising(fill(kit.dialect.interaction.answer, { answer: 'red' }));
    hasStatus(await kit.steps.answer(run.sessionId, key, answer), 400);
    same(await kit.steps.pendingKey(run.sessionId), key, 'the pending interaction');
  }),
  check('7-error', 'every refusal has a code in error', async (kit) => {
    for (const reply of await refusals(kit)) {
      const code = textAt(reply.body, 'error');
      ensure(!/\s/.test(code), `error of ${reply.asked} is no code: ${excerpt(code)}`);
    }
  }),
  check('7-message', 'every refusal beyond the gate has a message', async (kit) => {
    for (const reply of await refusals(kit)) textAt(reply.body, 'message');
  }),
  check('7-json-400', 'a body that is not JSON answers 400', async (kit) => {
    const headers = { 'content-type': 'application/json' };
    for (const bytes of ['{"agent_name": ', 'agent_name', '']) {
      hasStatus(await kit.app.send({ method: 'POST', path: '/v1/sessions', headers, bytes }), 400);
    }
  }),
  check('7-fields-400', 'missing and invalid fields answer 400', async (kit) => {
    for (const request of (await badRequests(kit)).slice(1)) {
      hasStatus(await kit.app.send(request), 400);
    }
  }),
  check('7-query-400', 'an invalid query parameter answers 400', async (kit) => {
    const { filter } = kit.dialect.interaction;
    const path = sessionPath(
      await kit.openSession('echo'),
      `/interactions?${filter}=no-such-status`,
    );
    hasStatus(await kit.app.get(path), 400);
  }),
  check('7-absent-404', 'ids that do not exist answer 404', async (kit) => {
    const { at: run } = await kit.seen('echo');
    const session = alike(run.sessionId);
    const runId = alike(run.runId);
    const paths = [
      sessionPath(session),
      sessionPath(session, '/runs'),
      runPath({ ...run, runId }),
      runPath({ ...run, sessionId: session }),
      runPath({ ...run, runId }, '/events'),
      sessionPath(session, '/interactions'),
    ];
    for (const path of paths) hasStatus(await kit.app.get(path), 404);
    hasStatus(await kit.app.post(runPath({ ...run, runId }, '/cancel')), 404);
    hasStatus(await kit.app.post(sessionPath(session, '/stop')), 404);
    const opening = { agent_name: 'conformance-no-such-agent' };
    hasStatus(await kit.app.post('/v1/sessions', opening), 404);
  }),
  check('7-no-trace', 'a refused run is not in the list', async (kit) => {
    const id = await kit.openSession('echo');
    const start = { input: kit.steps.input('x'), surprise: true };
    hasStatus(await kit.app.post(sessionPath(id, '/runs'), start), 400);
    const { body } = hasStatus(await kit.app.get(sessionPath(id, '/runs')), 200);
    same(listAt(body, kit.dialect.run.list).length, 0, 'the number of runs');
    ensure(at(body, 'error') === undefined, 'the list has an error');
  }),
];
