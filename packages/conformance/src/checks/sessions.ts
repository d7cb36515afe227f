import { type Check, check } from '../check.ts';
import { NotApplicable, ensure, excerpt, same } from '../failure.ts';
import { booleanAt, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { sessionPath } from '../steps.ts';

/** A session that has ended for good, where the service has a way to end one. */
async function makeTerminated(kit: Kit, key: string): Promise<string> {
  const body = { agent_name: kit.agentNames.echo, idempotency_key: key };
  const id = textAt(hasStatus(await kit.app.post('/v1/sessions', body), 200, 201).body, 'id');
  const { terminate } = kit.dialect.session;
  hasStatus(await kit.app.post(sessionPath(id, '/stop'), terminate), 200, 202, 204);
  return id;
}

async function makeStopped(kit: Kit): Promise<string> {
  const id = await kit.openSession('echo');
  hasStatus(await kit.app.post(sessionPath(id, '/stop'), kit.dialect.session.stop), 200, 202, 204);
  return id;
}

export const sessionChecks: readonly Check[] = [
  check('4.2-create-session', 'a session is opened with an agent by name', async (kit) => {
    const body = { agent_name: kit.agentNames.echo };
    const reply = hasStatus(await kit.app.post('/v1/sessions', body), 200, 201);
    same(textAt(reply.body, 'agent_name'), kit.agentNames.echo, 'agent_name');
  }),
  check('2-session', 'a session has id, agent_name and session_files_supported', async (kit) => {
    const id = await kit.openSession('echo');
    const { body } = hasStatus(await kit.app.get(sessionPath(id)), 200);
    same(textAt(body, 'id'), id, 'id');
    textAt(body, 'agent_name');
    booleanAt(body, 'session_files_supported');
  }),
  check('4.2-get-session', 'a session that was opened can be read', async (kit) => {
    const id = await kit.openSession('echo');
    const { body } = hasStatus(await kit.app.get(sessionPath(id)), 200);
    same(textAt(body, 'id'), id, 'id');
  }),
  check('1-ids', 'ids of sessions and runs are strings that work in paths', async (kit) => {
    const { at } = await kit.seen('echo');
    const session = hasStatus(await kit.app.get(sessionPath(at.sessionId)), 200).body;
    same(textAt(session, 'id'), at.sessionId, 'the id of the session');
    same(textAt(await kit.steps.run(at), 'id'), at.runId, 'the id of the run');
  }),
  check('4.2-list-sessions', 'an opened session is in the list', async (kit) => {
    const id = await kit.openSession('echo');
    const { list, list_query: query } = kit.dialect.session;
    const { body } = hasStatus(await kit.app.get(`/v1/sessions${query}`), 200);
    const isListed = listAt(body, list).some((item) => textAt(item, 'id') === id);
    ensure(isListed, `${id} is not in ${excerpt(body)}`);
  }),
  check('4.2-stop', 'a stopped session takes no run', async (kit) => {
    const id = await makeStopped(kit);
    const reply = await kit.app.post(sessionPath(id, '/runs'), { input: kit.steps.input('x') });
    hasStatus(reply, 409);
  }),
  check('4.2-resume', 'a resumed session takes runs again', async (kit) => {
    const id = await makeStopped(kit);
    hasStatus(await kit.app.post(sessionPath(id, '/resume')), 200, 202, 204);
    const frames = await kit.steps.follow(await kit.steps.startRun(id));
    ensure(frames.length > 0, 'the run has no events');
  }),
  check('4.2-lifecycle-409', 'a run in a session that has ended is a conflict', async (kit) => {
    const id = await makeTerminated(kit, newKey());
    const reply = await kit.app.post(sessionPath(id, '/runs'), { input: kit.steps.input('x') });
    hasStatus(reply, 409);
    hasStatus(await kit.app.post(sessionPath(id, '/resume')), 409);
  }),
  check('4.2-terminal-412', 'a key of a session that has ended answers 412', async (kit) => {
    const key = newKey();
    const id = await makeTerminated(kit, key);
    const body = { agent_name: kit.agentNames.echo, idempotency_key: key };
    const again = await kit.app.post('/v1/sessions', body);
    if (again.status < 300 && Object.keys(kit.dialect.session.terminate).length === 0) {
      throw new NotApplicable(`the dialect names no way to end ${id}`);
    }
    hasStatus(again, 412);
  }),
  check('4.2-session-key', 'the same key and body return the same session', async (kit) => {
    const body = { agent_name: kit.agentNames.echo, idempotency_key: newKey() };
    const first = hasStatus(await kit.app.post('/v1/sessions', body), 200, 201);
    const again = hasStatus(await kit.app.post('/v1/sessions', body), 200, 201);
    same(textAt(again.body, 'id'), textAt(first.body, 'id'), 'the id of the second answer');
  }),
  check('4.2-key-409', 'a key with another body is a conflict', async (kit) => {
    const { echo, ask } = kit.agentNames;
    const key = newKey();
    const first = { agent_name: echo, idempotency_key: key };
    const { body } = hasStatus(await kit.app.post('/v1/sessions', first), 200, 201);
    hasStatus(await kit.app.post('/v1/sessions', { ...first, agent_name: ask }), 409);
    const runs = sessionPath(textAt(body, 'id'), '/runs');
    const run = { input: kit.steps.input('one'), idempotency_key: key };
    hasStatus(await kit.app.post(runs, run), 200, 201, 202);
    hasStatus(await kit.app.post(runs, { ...run, input: kit.steps.input('two') }), 409);
  }),
  check('4.2-key-race', 'ten equal requests at once open one session', async (kit) => {
    const body = { agent_name: kit.agentNames.echo, idempotency_key: newKey() };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => kit.app.post('/v1/sessions', body)),
    );
    // One that arrives while the first is being carried out may be a conflict, to be read and retried.
    const made = replies.filter((reply) => hasStatus(reply, 200, 201, 409).status !== 409);
    ensure(made.length > 0, 'none of the requests succeeded');
    const ids = new Set(made.map((reply) => textAt(reply.body, 'id')));
    same(ids.size, 1, 'the number of sessions');
  }),
];
