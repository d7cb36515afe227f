import type { InteractionKey, SessionId } from '@convoke/contract';
import { interactionKey } from '@convoke/contract';
import { type AskItem, answerIn } from '@convoke/faces';
import { type JsonObject, isObject } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import { answerPending, findOfSession } from '../../interactions.ts';
import { Refusal } from '../../refusal.ts';
import type { Services } from '../../services.ts';
import type { FaceCaller } from '../caller.ts';
import { openAsks } from '../pending.ts';
import { type Offer, offeredRun } from './tools.ts';

/**
 * What a person's response has led to. `answered`: it was passed on. `opened`: the person has only opened a link.
 * `left`: the request stays, and is not shown to them again in this call.
 */
type AnswerEffect = 'answered' | 'opened' | 'left';

export interface FormRound {
  readonly run: Run;
  /** By the key of the interaction. */
  readonly responses: JsonObject;
}

/** Takes what a person has filled in between two rounds of a call, for requests that still wait. */
export async function takeForms(
  services: Services,
  caller: FaceCaller,
  { run, responses }: FormRound,
): Promise<{ readonly isLeft: boolean; readonly opened: string | undefined }> {
  let isLeft = false;
  let opened: string | undefined;
  for (const ask of await openAsks(services, run)) {
    const response = responses[ask.key];
    if (!isObject(response)) continue;
    const taken = await take(services, caller, { ask, sessionId: run.sessionId, response });
    if (taken === 'left') isLeft = true;
    if (taken === 'opened') opened = ask.key;
  }
  return { isLeft, opened };
}

export interface LateResponse {
  readonly offer: Offer;
  readonly sessionId: SessionId;
  readonly key: InteractionKey;
  readonly response: JsonObject;
}

/**
 * Takes a response that comes while its call waits, maybe on another server. Undefined where nothing waits for it;
 * `left` also where the answer was refused, which the waiting call has to say.
 */
export async function takeLateResponse(
  services: Services,
  caller: FaceCaller,
  { offer, sessionId, key, response }: LateResponse,
): Promise<AnswerEffect | undefined> {
  const known = await findOfSession(services, caller.scope, { sessionId, key });
  const run = known && (await offeredRun(services, offer, known.runId));
  if (run === undefined) return undefined;
  const ask = (await openAsks(services, run)).find((open) => open.key === key);
  if (ask === undefined) return undefined;
  try {
    return await take(services, caller, { ask, sessionId, response });
  } catch (error) {
    if (error instanceof Refusal) return 'left';
    throw error;
  }
}

interface Response {
  readonly ask: AskItem;
  readonly sessionId: SessionId;
  readonly response: JsonObject;
}

async function take(
  services: Services,
  caller: FaceCaller,
  { ask, sessionId, response }: Response,
): Promise<AnswerEffect> {
  const { action, content } = response;
  if (action !== 'accept') return 'left';
  if (!isObject(content)) return 'opened';
  const body = answerIn(ask, content);
  if (body === undefined) return 'left';
  const { scope, by, allower } = caller;
  const key = interactionKey(ask.key);
  await answerPending(services, scope, { sessionId, key, body, by, allower });
  return 'answered';
}
