import { type ContentBlock, type PromptResponse, RequestError } from '@agentclientprotocol/sdk';
import {
  type Convoke,
  type InteractionRecord,
  type JsonObject,
  NotFoundError,
  type RunHandle,
  type RunInput,
  type Session,
} from '@convoke/sdk';
import { collect } from '../../collect.ts';
import { answerOnce } from '../answer-once.ts';
import { patiently } from '../patience.ts';
import { promptText } from './prompt-text.ts';
import { answerIn } from './questions.ts';
import { type Ending, type Viewer, showRun } from './show-run.ts';

export interface Prompting extends Viewer {
  readonly convoke: Convoke;
  readonly session: Session;
  readonly prompt: readonly ContentBlock[];
  /** Gets the runs that the turn shows, for a cancellation. */
  readonly showing: (runs: readonly RunHandle[]) => void;
}

/** Finds a session of the agent; one of another agent is as unknown as one that does not exist. */
export async function findSession(
  convoke: Convoke,
  { agent, id }: { readonly agent: string; readonly id: string },
): Promise<Session> {
  try {
    const session = await patiently(() => convoke.sessions.get(id));
    if (session.record.agent_name === agent) return session;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  throw RequestError.invalidParams({ sessionId: id }, 'there is no such session');
}

/**
 * Carries out a turn. A session whose run waits for an answer gets the prompt as the answer. A run that continues for
 * another reason is shown to its end first, with its requests: the session carries out one at a time.
 */
export async function runPrompt(prompting: Prompting): Promise<PromptResponse> {
  const { session } = prompting;
  const text = promptText(prompting.prompt);
  const before = await unfinishedRun(session);
  const question = before && (await questionOf(session, before));
  if (before !== undefined && question !== undefined) {
    const { interaction_key: key, options = [], multiple = false } = question;
    await answerOnce(session, key, answerIn(text, { options, multiple }));
    return show(prompting, [{ ...before, answered: key }]);
  }
  const run = await session.run(await inputOf(prompting, text));
  return show(
    prompting,
    before === undefined ? [{ run, after: '' }] : [before, { run, after: '' }],
  );
}

/** D-570: an agent that takes no prompt gets the text as JSON. */
async function inputOf({ convoke, session }: Prompting, text: string): Promise<RunInput> {
  const { agent_name: name } = session.record;
  const { input_schema: schema } = await patiently(() => convoke.agents.get(name));
  const { properties = {} } = schema as { readonly properties?: object };
  if ('prompt' in properties) return text;
  const input = jsonIn(text);
  if (input !== undefined) return input;
  const message = `${name} takes no words: write its input as a JSON object`;
  throw RequestError.invalidParams({ agent: name }, message);
}

function jsonIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

interface KnownRun {
  readonly run: RunHandle;
  readonly after: string;
  readonly answered?: string;
}

async function show(prompting: Prompting, runs: readonly KnownRun[]): Promise<PromptResponse> {
  const { session, showing } = prompting;
  showing(runs.map(({ run }) => run));
  let ending: Ending | undefined;
  for (const known of runs) {
    ending = await showRun(prompting, { session, ...known });
    // It waits for a person, and so do the queued runs.
    if (ending === undefined) break;
  }
  if (ending?.outcome === 'failed') {
    const { message = 'the run failed', code } = ending;
    throw new RequestError(-32603, message, { error_code: code, run_id: runs.at(-1)?.run.id });
  }
  return { stopReason: ending?.outcome === 'cancelled' ? 'cancelled' : 'end_turn' };
}

async function unfinishedRun(session: Session): Promise<KnownRun | undefined> {
  const { current_run_id: id } = session.record;
  if (id === undefined) return undefined;
  const { record } = await patiently(() => session.runs.get(id));
  if (record.ended_at !== undefined) return undefined;
  return { run: session.runs.at(id), after: record.last_event_id ?? '' };
}

async function questionOf(
  session: Session,
  { run }: KnownRun,
): Promise<InteractionRecord | undefined> {
  const pending = await patiently(() => collect(session.interactions.pending()));
  return pending.find(({ kind, run_id }) => kind === 'question' && run_id === run.id);
}
