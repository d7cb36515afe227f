import type { SessionId } from '@convoke/contract';
import { type JsonObject, canonicalJson } from '../../../domain/json.ts';
import type { Run } from '../../../domain/run/run.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { findStarted, startRun } from '../../runs/start-run.ts';
import type { Services } from '../../services.ts';
import { getSession } from '../../sessions.ts';
import { type FaceCaller, startedBy } from '../caller.ts';
import { inputOfMessage } from '../message-input.ts';
import { filesOfMessage, namesOf } from './files.ts';
import type { UserMessage } from './input.ts';

/** Starts the run of a user's message, or finds the one that it started before. */
export async function startRunOfMessage(
  services: Services,
  caller: FaceCaller,
  { sessionId, message }: { readonly sessionId: SessionId; readonly message: UserMessage },
): Promise<Run> {
  const { scope } = caller;
  const at = { sessionId, idempotencyKey: `ai-sdk:${message.id}` };
  const { data } = message;
  const isSilent = message.text === '' && data.length === 0;
  const text = isSilent ? namesOf(message.files) : message.text;
  const said = inputOfMessage({ text, data });
  const start = async (input: JsonObject) =>
    (await startRun(services, scope, { ...at, ...startedBy(caller), input })).resource;
  // Before the key of the message is stored: a session of another tenant is not found (row-level security).
  await getSession(services, scope, sessionId);
  if (message.files.length === 0) return start(said);
  // The files of a message are stored once: what is compared of a repetition is the rest.
  const findFirst = async () => {
    const known = await findStarted(services, scope, at);
    const isSame = known === undefined || isStartedWith(known, said);
    return isSame ? known : refuse('idempotency_conflict');
  };
  const known = await findFirst();
  if (known !== undefined) return known;
  const mayStore = () => caller.requireScopes('files:write');
  const files = await filesOfMessage(services, scope, { ...at, ...message, mayStore });
  try {
    return await start({ ...said, files });
  } catch (error) {
    // Sent twice at once, the message has stored its files twice. The run that started has one of the two sets.
    if (!(error instanceof Refusal) || error.code !== 'idempotency_conflict') throw error;
    return (await findFirst()) ?? refuse('idempotency_conflict');
  }
}

function isStartedWith({ input }: Run, said: JsonObject): boolean {
  const { files: _, ...known } = JSON.parse(input) as JsonObject;
  return canonicalJson(known) === canonicalJson(said);
}
