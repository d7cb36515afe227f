import { Refusal, refuse } from '../../app/refusal.ts';
import { findStarted, startRun } from '../../app/runs/start-run.ts';
import { getSession } from '../../app/sessions.ts';
import type { Services } from '../../app/services.ts';
import { requireScopes } from '../../auth/gate.ts';
import { acceptedPrompt } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Run } from '../../domain/run/run.ts';
import { clientOf } from '../actor.ts';
import type { Call } from '../handler.ts';
import { filesOfMessage, namesOf } from './message-files.ts';
import type { ReadMessage } from './ui-message.ts';

type Send = Pick<Call<'send_ui_message'>, 'caller' | 'params' | 'chargeRate'>;
type UserMessage = Extract<ReadMessage, { role: 'user' }>;

/** Starts the run of a user's message, or finds the one that it started before. */
export async function startOfMessage(
  services: Services,
  { caller, params, chargeRate }: Send,
  message: UserMessage,
): Promise<Run> {
  const { scope } = caller;
  const at = { sessionId: params.session_id, idempotencyKey: `ai-sdk:${message.id}` };
  const prompt = message.text === '' ? namesOf(message.files) : message.text;
  const start = async (input: JsonObject) => {
    const by = { clientId: clientOf(caller), createdBy: caller.actor.id };
    const request = { ...at, ...by, input, isRefusedWhileWaiting: true, chargeRate };
    return (await startRun(services, scope, request)).resource;
  };
  if (message.files.length === 0) return start({ prompt });
  await getSession(services, scope, at.sessionId);
  // The files of a message are stored once: what is compared of a repetition is its text.
  const findFirst = async () => {
    const known = await findStarted(services, scope, at);
    const isSame = known === undefined || promptOf(known) === prompt;
    return isSame ? known : refuse('idempotency_conflict');
  };
  const known = await findFirst();
  if (known !== undefined) return known;
  const mayStore = () => requireScopes(caller, 'files:write');
  const files = await filesOfMessage(services, scope, { ...at, ...message, mayStore });
  try {
    return await start({ prompt, files });
  } catch (error) {
    // Sent twice at once, the message has stored its files twice. The run that started has one of the two sets.
    if (!(error instanceof Refusal) || error.code !== 'idempotency_conflict') throw error;
    return (await findFirst()) ?? refuse('idempotency_conflict');
  }
}

function promptOf(run: Run): string {
  return acceptedPrompt(JSON.parse(run.input) as JsonObject);
}
