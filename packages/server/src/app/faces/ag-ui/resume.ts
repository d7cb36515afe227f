import { type MayAllow, RunTranscript, callIdOf, isOffered } from '@convoke/faces';
import type { Interaction } from '../../../domain/interaction.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { Session } from '../../../domain/session.ts';
import { answerPending, findOfSession, listInteractions } from '../../interactions.ts';
import { Refusal } from '../../refusal.ts';
import { getRun } from '../../runs/runs.ts';
import type { Services } from '../../services.ts';
import { type FaceCaller, mayAllowIn } from '../caller.ts';
import { readTranscript } from '../history.ts';
import { type ResumeEntry, answerIn } from './input.ts';

export interface Resume {
  readonly session: Session | undefined;
  readonly entries: readonly ResumeEntry[];
  /** The part of the conversation that the client shows. */
  readonly messages: readonly JsonObject[];
}

interface NamedInteraction {
  readonly entry: ResumeEntry;
  readonly interaction: Interaction;
}

/**
 * Answers what is still pending of what `resume` names, and returns the run of it; a refusal for what AG-UI calls an
 * error of a run (D-213). An interaction that was answered elsewhere is not one: the run shows its real outcome.
 */
export async function answerInterrupts(
  services: Services,
  caller: FaceCaller,
  { session, entries, messages }: Resume,
): Promise<{ readonly run: Run; readonly isContinued: true } | Refusal> {
  caller.requireScopes('interactions:write');
  const named: NamedInteraction[] = [];
  for (const entry of entries) {
    const { key, interruptId, status } = entry;
    const interaction =
      session &&
      key &&
      (await findOfSession(services, caller.scope, { sessionId: session.id, key }));
    if (interaction === undefined) {
      return new Refusal('not_found', { message: `There is no interrupt ${interruptId}.` });
    }
    if (interaction.status === 'expired' && status === 'resolved') {
      const message = `The interrupt ${interruptId} has expired. Cancel it to continue.`;
      return new Refusal('interaction_not_pending', { message });
    }
    named.push({ entry, interaction });
  }
  const [last] = named.slice(-1);
  if (last === undefined) return new Refusal('not_found');
  const { sessionId, runId } = last.interaction;
  const run = await getRun(services, caller.scope, { sessionId, runId });
  const left = await readUnanswered(services, {
    run,
    named,
    messages,
    mayAllow: mayAllowIn(run, caller.allower),
  });
  if (left !== undefined) {
    const message = `resume must answer every open interrupt, and does not answer ${left}.`;
    return new Refusal('invalid_answer', { message });
  }
  const refused = await answerAll(services, caller, named);
  if (refused !== undefined) return refused;
  return { run: await getRun(services, caller.scope, { sessionId, runId }), isContinued: true };
}

/**
 * A pending interaction that the client shows and does not answer. One that the agent asked for since then is not in
 * the client's messages: the response ends with it. One that waits for other people is no interrupt of this client.
 */
async function readUnanswered(
  services: Services,
  {
    run,
    named,
    messages,
    mayAllow,
  }: {
    readonly run: Run;
    readonly named: readonly NamedInteraction[];
    readonly mayAllow: MayAllow;
  } & Pick<Resume, 'messages'>,
): Promise<string | undefined> {
  const answered = new Set<string>(named.map(({ interaction }) => interaction.key));
  const { items } = await listInteractions(services, run, {
    sessionId: run.sessionId,
    status: 'pending',
    page: { limit: 100, order: 'asc', after: undefined },
  });
  if (items.every(({ key }) => answered.has(key))) return undefined;
  const shown = new Set(messages.flatMap(callsIn));
  const { events } = await readTranscript(services, run);
  const transcript = new RunTranscript();
  for (const event of events) transcript.take(event);
  return transcript.waiting.find(
    (ask) => !answered.has(ask.key) && shown.has(callIdOf(run.id, ask)) && isOffered(ask, mayAllow),
  )?.key;
}

function callsIn({ toolCalls }: JsonObject): readonly unknown[] {
  if (!Array.isArray(toolCalls)) return [];
  return (toolCalls as readonly JsonObject[]).map((call) => call?.['id']);
}

const ofAnswer: ReadonlySet<string> = new Set([
  'invalid_answer',
  'not_an_approver',
  'denied_by_rule',
]);

async function answerAll(
  services: Services,
  { scope, by, allower }: FaceCaller,
  named: readonly NamedInteraction[],
): Promise<Refusal | undefined> {
  try {
    for (const { entry, interaction } of named) {
      if (interaction.status !== 'pending') continue;
      const { sessionId, key } = interaction;
      const body = answerIn(interaction, entry);
      await answerPending(services, scope, { sessionId, key, body, by, allower });
    }
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && ofAnswer.has(error.code)) return error;
    throw error;
  }
}
