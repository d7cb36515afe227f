import { type Check, ownerCheck } from '../check.ts';
import { ensure } from '../failure.ts';
import { fill, listAt, textAt } from '../fields.ts';
import { hasStatus } from '../server.ts';
import { dataOf, runPath, sessionPath } from '../steps.ts';
import { sessionWithFiles, storedFile } from './files.ts';

export const isolationChecks: readonly Check[] = [
  ownerCheck('7-tenant-404', 'sessions and runs of another tenant answer 404', async (kit) => {
    const { at: run } = await kit.seen('echo');
    const { caller } = await kit.otherTenant();
    const paths = [
      sessionPath(run.sessionId),
      sessionPath(run.sessionId, '/runs'),
      sessionPath(run.sessionId, '/interactions'),
      runPath(run),
      runPath(run, '/events'),
    ];
    for (const path of paths) hasStatus(await caller.get(path), 404);
    hasStatus(await caller.post(runPath(run, '/cancel')), 404);
    hasStatus(await caller.post(sessionPath(run.sessionId, '/stop')), 404);
    const start = { input: kit.steps.input('x') };
    hasStatus(await caller.post(sessionPath(run.sessionId, '/runs'), start), 404);
  }),
  ownerCheck('7-tenant-404', 'an interaction of another tenant is not answered', async (kit) => {
    const run = await kit.begin('ask');
    const event = dataOf((await kit.steps.until(run, 'user_question')).at(-1));
    const { caller } = await kit.otherTenant();
    const key = String(event['interaction_key']);
    const path = sessionPath(run.sessionId, `/interactions/${key}/answer`);
    hasStatus(await caller.post(path, fill(kit.dialect.interaction.answer, { answer: 'x' })), 404);
    ensure((await kit.steps.pending(run.sessionId)).length === 1, 'it is no longer pending');
  }),
  ownerCheck('7-tenant-404', 'a file of another tenant answers 404', async (kit) => {
    const session = await sessionWithFiles(kit);
    const file = await storedFile(kit, session);
    const { caller } = await kit.otherTenant();
    hasStatus(await caller.get(sessionPath(session, '/files')), 404);
    hasStatus(await caller.get(`${file}/content`), 404);
    hasStatus(await caller.send({ method: 'DELETE', path: file }), 404);
    hasStatus(await kit.app.get(`${file}/content`), 200);
  }),
  ownerCheck('7-isolation', 'lists of a tenant have no sessions of another', async (kit) => {
    const here = await kit.openSession('echo');
    const other = await kit.otherTenant();
    const there = await other.openSession(kit.agentNames.echo);
    const { list, list_query: query } = kit.dialect.session;
    const idsOf = async (caller: typeof kit.app) => {
      const { body } = hasStatus(await caller.get(`/v1/sessions${query}`), 200);
      return listAt(body, list).map((item) => textAt(item, 'id'));
    };
    const [mine, theirs] = [await idsOf(kit.app), await idsOf(other.caller)];
    ensure(mine.includes(here) && !mine.includes(there), 'the first tenant lists the second');
    ensure(theirs.includes(there) && !theirs.includes(here), 'the second tenant lists the first');
  }),
];
