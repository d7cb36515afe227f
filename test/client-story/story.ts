// Performs story.json with the SDK for TypeScript and prints what each step gave, one line of JSON a step.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type Answer,
  Convoke,
  ConvokeError,
  type JsonObject,
  type NoticeType,
  type PermissionAnswer,
  type RunEvent,
  type RunHandle,
  RunText,
  type StopMode,
} from '../../packages/sdk/src/index.ts';

interface Step {
  readonly step: string;
  readonly call: string;
  readonly with?: Given;
  readonly as?: string;
  readonly direct?: boolean;
}

/** What a call is given; each takes some of these. */
interface Given {
  readonly agent: string;
  readonly agents: number;
  readonly among: readonly string[];
  readonly after?: number;
  readonly answer: string & Answer;
  readonly comment?: string;
  readonly count: number;
  readonly cron: string;
  readonly decision: 'allow' | 'deny' | PermissionAnswer;
  readonly end?: number;
  readonly end_user?: string;
  readonly file: string;
  readonly input: string;
  readonly key: string;
  readonly kill: boolean;
  readonly kill_at?: string;
  readonly label: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly line: string;
  readonly mode: StopMode;
  readonly name: string;
  readonly prompt: string | JsonObject;
  readonly question: string;
  readonly run: string;
  readonly schedule: string;
  readonly score: number;
  readonly session: string;
  readonly start?: number;
  readonly time_zone: string;
  readonly times: number;
  readonly title: string;
  readonly types: readonly NoticeType[];
  readonly until: string;
}

const {
  BASE_URL = '',
  DIRECT_URL = '',
  CLIENT_ID: clientId = '',
  CLIENT_SECRET: clientSecret = '',
} = process.env;
const retry = { attempts: 40, baseMs: 1, maxMs: 20 };
const overFaults = new Convoke({ baseUrl: BASE_URL, clientId, clientSecret, retry });
const direct = new Convoke({ baseUrl: DIRECT_URL, clientId, clientSecret, retry });
const text = await readFile(new URL('story.json', import.meta.url), 'utf8');
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
/** Ids of what earlier steps made, by the name that they gave it; runs have that of their session, too. */
const ids = new Map<string, string>();
const contents = new Map<string, Uint8Array<ArrayBuffer>>();
let convoke = overFaults;

const verbs: Readonly<Record<string, (given: Given, as: string) => Promise<unknown>>> = {
  whoami: async () => ({ profile: (await convoke.whoami()).profile }),
  async wrong_secret() {
    const options = { baseUrl: DIRECT_URL, clientId, clientSecret: 'cvk_wrong', retry };
    await new Convoke(options).whoami();
  },
  workspaces: async () => (await all(convoke.workspaces())).length,
  async agents({ limit, among }) {
    const agents = await all(convoke.agents.list({ limit }));
    return agents.map(({ name }) => name).filter((name) => among.includes(name));
  },
  agent: async ({ name }) => (await convoke.agents.get(name)).name,

  async open({ agent, title, labels }, as) {
    const session = await convoke.sessions.create(agent, { title, labels });
    ids.set(as, session.id);
    const { status, title: given = null, labels: own } = session.record;
    return { status, title: given, labels: own };
  },
  async retitle({ session, title }) {
    const { title: now = null, labels } = await sessionAt(session).update({ title });
    return { title: now, labels };
  },
  stop: async ({ session, mode }) => (await sessionAt(session).stop({ mode })).status,
  resume: async ({ session }) => (await sessionAt(session).resume()).status,

  async start({ session, prompt, key, labels }, as) {
    const run = await sessionAt(session).run(prompt, { idempotencyKey: key, labels });
    return { is_same: isSame(as, run) };
  },
  async invoke({ agent, prompt, key }, as) {
    const run = await convoke.agents.invoke(agent, prompt, { idempotencyKey: key });
    return { text: await run.text(), is_same: isSame(as, run) };
  },
  text: ({ run, answer, decision, kill }) =>
    runAt(run).text({
      onQuestion: async () => {
        if (kill === true) await killServer();
        return answer;
      },
      onPermission: () => decision,
    }),
  output: ({ run }) => runAt(run).output(),
  async wait({ run }) {
    const { status, output_text, labels } = await runAt(run).wait();
    return { status, output_text, labels };
  },
  async follow({ run, after = 0, until, kill_at }) {
    const handle = runAt(run);
    const recorded = () => all(direct.sessions.at(handle.sessionId).runs.at(handle.id).events());
    const before = await recorded();
    const position = after === 0 ? undefined : before.at(after === -1 ? -1 : after - 1)?.id;
    const [seen, joined] = [new Array<RunEvent>(), new RunText()];
    for await (const event of handle.follow({ after: position })) {
      seen.push(event);
      joined.take(event);
      if (event.type === until) break;
      if (event.type === 'message_delta' && event.data.text.trim() === kill_at) await killServer();
    }
    const { output_text = '' } = await handle.read();
    const kept = (await recorded()).filter(({ id }) => position === undefined || id > position);
    return {
      types: [...new Set(seen.map(({ type }) => type))],
      words: joined.text.split(/\s+/).filter(Boolean).length,
      is_answer: output_text.endsWith(joined.text),
      is_whole: JSON.stringify(seen) === JSON.stringify(kept),
    };
  },
  async rate({ run, key, score, comment, end_user }) {
    const given = await runAt(run).feedback.put(key, { score, comment, end_user });
    const { kind, id } = given.author;
    const author = kind === 'end_user' ? `${kind} ${id}` : kind;
    return { author, is_new: given.created_at === given.updated_at };
  },
  ratings: ({ run }) => ratingsOf(run),
  rated_down: async ({ key }) =>
    (await all(convoke.runs.list({ feedback: key, score_max: 0 }))).map(({ preview }) => preview),
  async of_version({ run }) {
    const { agent_digest = '' } = await runAt(run).read();
    const listed = await all(convoke.runs.list({ agent_digest: agent_digest.slice(0, 8) }));
    return listed.map(({ preview }) => preview);
  },
  async unrate({ run, key, end_user }) {
    await runAt(run).feedback.delete(key, { end_user });
    return ratingsOf(run);
  },
  label: async ({ run, labels }) => (await runAt(run).update({ labels })).labels,
  async runs({ session, limit }) {
    const listed = await all(sessionAt(session).runs.list({ limit }));
    return listed.map(({ record }) => record.input['prompt']).toReversed();
  },
  runs_with: async ({ label }) =>
    (await all(convoke.runs.list({ label: [label] }))).map(({ preview }) => preview),
  async cancel({ run }) {
    await runAt(run).cancel({ reason: 'Enough' });
    return (await runAt(run).wait()).status;
  },

  async pending({ session }, as) {
    const interactions = await all(sessionAt(session).interactions.pending());
    ids.set(as, interactions[0]?.interaction_key ?? '');
    return interactions.map(({ kind, status }) => ({ kind, status }));
  },
  answer: async ({ session, question, answer }) =>
    (await sessionAt(session).interactions.answer(idOf(question), answer)).status,
  remembered: async ({ session }) =>
    (await rememberedIn(session)).map(({ tool_name, remembered }) => `${tool_name} ${remembered}`),
  async forget({ session }) {
    for (const { interaction_key } of await rememberedIn(session)) {
      await sessionAt(session).interactions.forget(interaction_key);
    }
    return (await rememberedIn(session)).length;
  },

  async upload({ session, name, line, times }, as) {
    const content = new TextEncoder().encode(line.repeat(times));
    const file = await sessionAt(session).files.upload(content, { name });
    ids.set(as, file.id);
    contents.set(as, content);
    const { size_bytes, sha256 } = file;
    return { name: file.name, size_bytes, is_intact: sha256 === digest(content) };
  },
  async download({ session, file, start = 0, end = 4999 }) {
    const range = { start, end };
    const response = await sessionAt(session).files.download(idOf(file), { range });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const part = contents.get(file)?.subarray(start, end + 1) ?? new Uint8Array();
    return { bytes: bytes.length, is_intact: digest(bytes) === digest(part) };
  },
  files: ({ session }) => fileNames(session),
  async delete_file({ session, file }) {
    await sessionAt(session).files.delete(idOf(file));
    return fileNames(session);
  },

  async schedule({ agent, name, cron, time_zone, input }, as) {
    const given = { agent_name: agent, name, cron, time_zone, input };
    const schedule = await convoke.schedules.create(given);
    ids.set(as, schedule.id);
    return { status: schedule.status, input: schedule.input };
  },
  preview: async ({ schedule, count }) =>
    (await convoke.schedules.preview(idOf(schedule), { count })).length,
  pause: async ({ schedule }) => (await convoke.schedules.pause(idOf(schedule))).status,
  async unschedule({ schedule }) {
    await convoke.schedules.delete(idOf(schedule));
    return (await all(convoke.schedules.list())).map(({ name }) => name);
  },
  async feed({ types, count }) {
    const seen: NoticeType[] = [];
    for await (const { type } of convoke.feed.follow({ types })) {
      if (seen.push(type) === count) break;
    }
    return seen;
  },
  /** Runs are counted soon after their end. */
  async usage({ agents }) {
    for (;;) {
      const groups = (await all(convoke.usage.list({ group_by: 'agent' }))).map(
        ({ group = '' }) => group,
      );
      if (groups.length >= agents) return groups.toSorted((a, b) => (a < b ? -1 : 1));
    }
  },
};

for (const { step, call, with: given, as, direct: isDirect } of JSON.parse(text) as Step[]) {
  convoke = isDirect === true ? direct : overFaults;
  const gives = await verbs[call]?.(given ?? ({} as Given), as ?? '').catch(refusal);
  console.log(JSON.stringify({ step, gives }));
}
process.exit();

function rememberedIn(session: string) {
  return all(sessionAt(session).interactions.list({ status: 'answered', remembered: true }));
}

async function ratingsOf(run: string): Promise<string[]> {
  return (await runAt(run).feedback.list()).map(({ key, score }) => `${key} ${score}`);
}

async function all<Item>(listing: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of listing) items.push(item);
  return items;
}

function idOf(name: string): string {
  return ids.get(name) ?? '';
}

function sessionAt(name: string) {
  return convoke.sessions.at(idOf(name));
}

function runAt(name: string): RunHandle {
  const [session = '', run = ''] = (ids.get(name) ?? '').split(' ');
  return convoke.sessions.at(session).runs.at(run);
}

/** Whether an earlier step got this run, too. */
function isSame(as: string, { sessionId, id }: RunHandle): boolean {
  const before = ids.get(as);
  ids.set(as, `${sessionId} ${id}`);
  return before === ids.get(as);
}

async function fileNames(session: string): Promise<string[]> {
  return (await all(sessionAt(session).files.list())).map(({ name }) => name);
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Asks the test to kill the server, and waits until it is back. */
async function killServer(): Promise<void> {
  console.log(JSON.stringify({ please: 'kill' }));
  await answers.next();
}

function refusal(error: unknown): unknown {
  if (!(error instanceof ConvokeError)) throw error;
  return { error: error.name, code: error.code, status: error.status ?? null };
}
