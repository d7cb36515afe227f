// What Convoke decided where the specification is silent: `--level convoke`.
import { slowText } from '../agents.ts';
import { type Check, type RestartCheck, check, ownerCheck, restartCheck } from '../check.ts';
import { ensure, excerpt, isRecord, same } from '../failure.ts';
import { at, fill, integerAt, listAt, textAt } from '../fields.ts';
import type { Frame } from '../frames.ts';
import type { Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { Steps, dataOf, isTerminal, runPath, sessionPath, typeOf } from '../steps.ts';
import { textOf } from './events.ts';
import { expectSurvived } from './restarts.ts';

/** The service checks the permissions of an open stream again every few seconds. */
const streamEndsMs = 30_000;

export const convokeChecks: readonly Check[] = [
  check('convoke-last-event-id', 'an id of no event is refused', async (kit) => {
    const { at: run } = await kit.seen('echo');
    for (const id of ['999999999999', 'nonsense', '-1']) {
      hasStatus((await kit.steps.open(run, id)).reply, 400);
    }
  }),
  check('convoke-nothing-after', 'the terminal id answers 204', async (kit) => {
    const { at: run, frames } = await kit.seen('echo');
    hasStatus((await kit.steps.open(run, frames.at(-1)?.id)).reply, 204);
  }),
  check('convoke-history', 'pages of JSON have the events of the stream', async (kit) => {
    const { at: run, frames } = await kit.seen('ask');
    const headers = { accept: 'application/json' };
    const path = runPath(run, '/events?limit=100');
    const { body } = hasStatus(await kit.app.send({ method: 'GET', path, headers }), 200);
    same(
      listAt(body, 'events'),
      frames.map(({ data }) => data),
      'the events',
    );
  }),
  check('convoke-unnamed', 'frames without names carry the same events', async (kit) => {
    const { at: run, frames: named } = await kit.seen('echo');
    const path = runPath(run, '/events?event_names=off');
    const { reply, frames } = await kit.app.stream({ method: 'GET', path });
    hasStatus(reply, 200);
    const unnamed: Frame[] = [];
    for await (const frame of frames) unnamed.push(frame);
    same(
      unnamed.map(({ data, event }) => [event, data]),
      named.map(({ data }) => ['', data]),
      'the frames',
    );
  }),
  check(
    'convoke-one-shot-key',
    'a one-shot with the same key streams the same run',
    async (kit) => {
      const path = `/v1/agents/${kit.agentNames.echo}/runs`;
      const key = newKey();
      const invoke = async (prompt: string) => {
        const body = fill(kit.dialect.run.invoke, { prompt });
        const json = { ...(isRecord(body) ? body : {}), idempotency_key: key };
        return await kit.app.stream({ method: 'POST', path, json });
      };
      const streamed = async () => {
        const { reply, frames } = await invoke('Hello');
        hasStatus(reply, 200, 201);
        const raw: string[] = [];
        for await (const frame of frames) raw.push(frame.raw);
        return { run: reply.headers.get('x-run-id'), raw };
      };
      const first = await streamed();
      ensure(first.raw.length > 0, 'the stream has no frame');
      same(await streamed(), first, 'the run of the second request');
      hasStatus((await invoke('Bye')).reply, 409);
    },
  ),
  check('convoke-same-answer', 'an answer can be repeated, but not changed', async (kit) => {
    const { at: run, frames } = await kit.seen('ask');
    const asked = frames.find((frame) => typeOf(frame) === 'user_question');
    const key = textAt(dataOf(asked), 'interaction_key');
    const answer = (text: string) =>
      kit.steps.answer(run.sessionId, key, fill(kit.dialect.interaction.answer, { answer: text }));
    hasStatus(await answer('blue'), 200);
    hasStatus(await answer('red'), 409);
  }),
  ownerCheck('convoke-labels', 'a label of one tenant finds nothing in another', async (kit) => {
    const session = await kit.openSession('echo');
    const labels = { conformance: 'label' };
    const body = { input: kit.steps.input('x'), labels };
    const reply = await kit.app.post(sessionPath(session, '/runs'), body);
    const id = textAt(hasStatus(reply, 201).body, 'id');
    const path = '/v1/runs?label=conformance:label';
    const idsOf = async ({ caller }: Steps) =>
      listAt(hasStatus(await caller.get(path), 200).body, 'runs').map((run) => textAt(run, 'id'));
    ensure((await idsOf(kit.steps)).includes(id), 'the label does not find its run');
    same(await idsOf(await kit.otherTenant()), [], 'the runs of the other tenant');
  }),
  check('convoke-secret-account', 'no answer has the secret of an account', async (kit) => {
    const account = await storedAccount(kit);
    const { reply: listed, records } = await listedAccounts(kit.steps, account);
    same(records.length, 1, 'the accounts of the end user');
    for (const { text } of [account.stored, listed]) {
      ensure(!text.includes(account.token), 'an answer has the secret');
    }
    const { path } = account;
    hasStatus(await kit.app.send({ method: 'DELETE', path }), 204);
    same(
      (await listedAccounts(kit.steps, account)).records,
      [],
      'the accounts after the revocation',
    );
  }),
  ownerCheck('convoke-own-account', 'an account belongs to its tenant', async (kit) => {
    const account = await storedAccount(kit);
    const other = await kit.otherTenant();
    same((await listedAccounts(other, account)).records, [], 'the accounts of the other tenant');
    const { path } = account;
    hasStatus(await other.caller.send({ method: 'DELETE', path }), 404);
    hasStatus(await kit.app.send({ method: 'DELETE', path }), 204);
  }),
  ownerCheck('convoke-enabled', 'a token of before a disabling stays refused', async (kit) => {
    const client = await kit.owner.makeClient();
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/agents'), 200);
    const path = `m2m/${client.id}`;
    for (const status of ['disabled', 'active']) {
      const version = integerAt(hasStatus(await kit.owner.get(path), 200).body, 'client.version');
      hasStatus(await kit.owner.patch(path, { version, status }), 200, 202);
    }
    hasStatus(await caller.get('/v1/agents'), 401);
    await kit.owner.delete(path);
  }),
  ownerCheck('convoke-revoked-stream', 'a stream ends with its credential', async (kit) => {
    const client = await kit.owner.makeClient();
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    const steps = new Steps(caller, kit.dialect);
    const run = await kit.begin('ask');
    const { reply, frames } = await steps.open(run);
    hasStatus(reply, 200);
    const credential = textAt(client.created.body, 'credential.id');
    hasStatus(await kit.owner.delete(`m2m/${client.id}/credentials/${credential}`), 204, 202);
    // The run waits, so that only the server can end the stream.
    const seen: Frame[] = [];
    const read = async () => {
      for await (const frame of frames) seen.push(frame);
      return 'ended';
    };
    const late = AbortSignal.timeout(streamEndsMs);
    const isLate = new Promise((resolve) => late.addEventListener('abort', resolve));
    same(await Promise.race([read(), isLate.then(() => 'open')]), 'ended', 'the stream');
    ensure(!seen.some(isTerminal), 'the run has ended');
    await kit.owner.delete(`m2m/${client.id}`);
  }),
];

/** The account of an end user that no other check knows, for a service that no agent uses. */
async function storedAccount({ app }: Kit) {
  const [endUser, token] = [newKey(), newKey()];
  const json = { end_user: endUser, auth: { type: 'bearer', token } };
  const service = '/v1/connections/conformance';
  const stored = hasStatus(await app.send({ method: 'PUT', path: service, json }), 201);
  return { stored, token, endUser, path: `${service}?end_user=${endUser}` };
}

async function listedAccounts({ caller }: Steps, { endUser }: { readonly endUser: string }) {
  const reply = hasStatus(await caller.get(`/v1/connections?end_user=${endUser}`), 200);
  return { reply, records: listAt(reply.body, 'connections') };
}

/** The deltas without those that an interruption took back. */
function keptText(frames: readonly Frame[]): string {
  let kept: Frame[] = [];
  for (const frame of frames) {
    const from = at(frame.data, 'data.discard_from_event_id');
    const isCut = typeOf(frame) === 'run_interrupted' && typeof from === 'string';
    kept = isCut ? kept.filter(({ id }) => id < from) : [...kept, frame];
  }
  return textOf(kept);
}

export const convokeRestartChecks: readonly RestartCheck[] = [
  {
    ...restartCheck('convoke-words', 'a run that continues says every word once', async (kit) => {
      const run = await kit.begin('slow');
      await kit.steps.until(run, 'message_delta');
      return async (after, { startedAt }) => {
        const { frames, run: record } = await expectSurvived(after, run, startedAt);
        same(at(record, 'status'), 'completed', `status of ${excerpt(record)}`);
        same(keptText(frames), slowText(), 'what was said');
        same(at(record, 'output_text'), slowText(), 'output_text');
      };
    }),
    isLate: true,
  },
];
