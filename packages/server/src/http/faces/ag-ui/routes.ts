import { formatEventId } from '@convoke/contract';
import { type AgUiEvent, AgUiStream } from '@convoke/faces';
import { getAgent } from '../../../app/agents.ts';
import {
  type ShownRun,
  openConversation,
  sessionOfThread,
  startRunOfMessage,
} from '../../../app/faces/ag-ui/conversation.ts';
import { messagesOfOthers } from '../../../app/faces/ag-ui/history.ts';
import {
  type AgUiAsked,
  type AgUiBody,
  askedIn,
  ignoredIn,
} from '../../../app/faces/ag-ui/input.ts';
import { answerInterrupts } from '../../../app/faces/ag-ui/resume.ts';
import { Refusal } from '../../../app/refusal.ts';
import type { Services } from '../../../app/services.ts';
import { getSession } from '../../../app/sessions.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { Session } from '../../../domain/session.ts';
import type { Call, Handlers, RawReply } from '../../handler.ts';
import { faceCaller } from '../caller.ts';
import { sendRun } from '../run-stream.ts';
import { type FaceEncoder, type FaceParts, sendWhole } from '../stream.ts';

type PostedMessage = Pick<Call<'run_ag_ui'>, 'caller' | 'request' | 'chargeRate' | 'body'>;

/** AG-UI over sessions (D-210 to D-213). */
export function agUiRoutes(
  services: Services,
  parts: FaceParts,
): Handlers<'run_ag_ui' | 'run_session_ag_ui'> {
  const face = { services, parts };
  return {
    async run_ag_ui(call) {
      const asked = askedIn(call.body);
      const agentName = call.params.agent_name;
      getAgent(services, call.caller.scope, agentName);
      const { threadId } = call.body;
      const thread = { agentName, threadId, asked };
      const session = await sessionOfThread(services, faceCaller(call), thread);
      return respond(face, call, { asked, session });
    },

    async run_session_ag_ui(call) {
      const asked = askedIn(call.body);
      const session = await getSession(services, call.caller.scope, call.params.session_id);
      return respond(face, call, { asked, session });
    },
  };
}

interface Face {
  readonly services: Services;
  readonly parts: FaceParts;
}

interface Conversation {
  readonly asked: AgUiAsked;
  readonly session: Session | undefined;
}

async function respond(
  face: Face,
  call: PostedMessage,
  { asked, session }: Conversation,
): Promise<RawReply> {
  const { services } = face;
  const { messages, runId } = call.body;
  const caller = faceCaller(call);
  if (asked.kind === 'connect') {
    const shown = await openConversation(services, caller, { session, messages });
    return shown === undefined ? emptyReply(face, call) : streamRun(face, call, shown);
  }
  const begun =
    asked.kind === 'resume'
      ? await answerInterrupts(services, caller, { session, entries: asked.entries, messages })
      : await startRunOfMessage(services, caller, { session, input: asked.input, runId });
  if (begun instanceof Refusal) return errorReply(face, call, begun);
  const { run, isContinued } = begun;
  return streamRun(face, call, { run, before: messagesOfOthers(messages, run), isContinued });
}

/** The response for a conversation that has no run. */
function emptyReply(face: Face, call: PostedMessage): RawReply {
  const none = new AgUiStream({ ...namesOf(call.body), after: '' });
  return whole(face, call, [...none.start(), none.finish()]);
}

/** An error of a run, in the protocol (D-213). */
function errorReply(face: Face, call: PostedMessage, { message, code }: Refusal): RawReply {
  const stopped = new AgUiStream(namesOf(call.body));
  return whole(face, call, [...stopped.start(), stopped.fail(message, code)]);
}

function whole({ parts }: Face, { caller }: PostedMessage, events: readonly AgUiEvent[]): RawReply {
  return sendWhole(parts, { caller, headers: {}, text: [...framesOf(events)].join('') });
}

function namesOf(body: AgUiBody) {
  const { threadId, runId } = body;
  const hasVersion = typeof body['protocolVersion'] === 'string';
  return { threadId, runId, hasVersion, ignored: ignoredIn(body) };
}

function streamRun(
  { services, parts }: Face,
  { caller, body }: PostedMessage,
  { run, before, isContinued }: ShownRun,
): Promise<RawReply> {
  const names = namesOf(body);
  const mayEdit = services.agents.find(run.agentName)?.hasFixedToolInput !== true;
  const after = isContinued ? positionOf(run) : undefined;
  return sendRun(services, parts, {
    caller,
    run,
    encoderOf: ({ sessionId, runId, ...known }) =>
      encoderOf(
        new AgUiStream({ ...known, ...names, run: { sessionId, runId }, before, after, mayEdit }),
      ),
  });
}

/** The newest event of the run; '' before the first. */
function positionOf({ lastSeq }: Run): string {
  return lastSeq > 0 ? formatEventId(lastSeq) : '';
}

function encoderOf(stream: AgUiStream): FaceEncoder {
  return {
    start: () => framesOf(stream.start()),
    take: (event, isFollowed) => framesOf(stream.take(event, isFollowed)),
    pause: () => framesOf(stream.pause()),
    isOver: () => stream.isOver,
    // Whatever is void is taken back by a snapshot.
    mustCut: () => false,
  };
}

function* framesOf(events: readonly AgUiEvent[]): Generator<string> {
  for (const event of events) yield `data: ${JSON.stringify(event)}\n\n`;
}
