import type {
  AgentContext,
  ClientCapabilities,
  RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import { type Answer, ConvokeError, type SessionHandle } from '@convoke/sdk';
import {
  type AskItem,
  type PermissionItem,
  type QuestionItem,
  askedBecause,
  inputText,
} from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import { collect } from '../../collect.ts';
import { answerOnce } from '../answer-once.ts';
import { patiently } from '../patience.ts';
import { answerOf, formOf, permissionOptions, shownQuestion } from './questions.ts';
import { callOf, said } from './updates.ts';

interface DialogParts {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly session: SessionHandle;
  readonly runId: string;
  /** Where a person sees the run in the console. */
  readonly link: () => Promise<string>;
  /** Called when a request stays pending: the turn ends, and the run waits. */
  readonly leave: () => void;
  readonly fail: (error: unknown) => void;
  /** Whether the editor has cancelled the turn. */
  readonly isCancelled: () => boolean;
}

/** Shows the requests of a run to the person at the editor, and passes their answers on (D-215). */
export class Dialogs {
  readonly #parts: DialogParts;
  readonly #open = new Map<string, AbortController>();

  constructor(parts: DialogParts) {
    this.#parts = parts;
  }

  show(ask: AskItem): void {
    if (this.#open.has(ask.key)) return;
    const shown = new AbortController();
    this.#open.set(ask.key, shown);
    this.#answer(ask, shown.signal).catch((error: unknown) => {
      if (!shown.signal.aborted) this.#parts.fail(error);
    });
  }

  /** Withdraws the dialog of a request that was answered, perhaps elsewhere. */
  withdraw(key: string): void {
    this.#open.get(key)?.abort();
  }

  close(): void {
    for (const shown of this.#open.values()) shown.abort();
  }

  async #answer(ask: AskItem, signal: AbortSignal): Promise<void> {
    const answer = await (ask.about === 'permission'
      ? this.#permission(ask, signal)
      : this.#question(ask, signal));
    // An editor closes its dialogs when it cancels: the run ends then.
    if (signal.aborted || this.#parts.isCancelled()) return;
    if (answer !== undefined) return this.#pass(ask.key, answer);
    await this.#say(await this.#waitingText(ask));
    this.#parts.leave();
  }

  /** A session remembers a bounded number of allows: one more is an allow of this call. */
  async #pass(key: string, answer: Answer): Promise<void> {
    const { session } = this.#parts;
    try {
      await answerOnce(session, key, answer);
    } catch (error) {
      const isTooMany =
        'remember' in answer && error instanceof ConvokeError && error.code === 'invalid_answer';
      if (!isTooMany) throw error;
      await answerOnce(session, key, { decision: 'allow' });
    }
  }

  /** Undefined if the dialog was closed, could not show all that is approved, or would ask the wrong person. */
  async #permission(ask: PermissionItem, signal: AbortSignal): Promise<Answer | undefined> {
    if (inputText(ask.input) === undefined || !(await this.#mayAllow(ask))) return undefined;
    if (signal.aborted) return undefined;
    const toolCallId = callOf(ask, this.#parts.runId);
    const chosen = await this.#choose(
      {
        toolCall: { toolCallId, title: printable(ask.name), rawInput: ask.input },
        options: [
          { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
          ...(ask.data['can_remember'] === undefined ? [] : [allowAlways]),
          { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
        ],
      },
      signal,
    );
    if (chosen === allowAlways.optionId) return { decision: 'allow', remember: 'exact' };
    return chosen === 'allow' || chosen === 'deny' ? { decision: chosen } : undefined;
  }

  /** The server knows for whom this program acts, so it is asked where approvers are restricted. */
  async #mayAllow({ key, data }: PermissionItem): Promise<boolean> {
    if (data['approvers'] === undefined) return true;
    const pending = await patiently(() => collect(this.#parts.session.interactions.pending()));
    return pending.find((each) => each.interaction_key === key)?.can_allow !== false;
  }

  /** Undefined if the form was closed, or if the editor can show none: the next prompt is the answer then. */
  async #question(ask: QuestionItem, signal: AbortSignal): Promise<Answer | undefined> {
    const { capabilities, client, session, runId } = this.#parts;
    const shown = shownQuestion(ask);
    const toolCallId = callOf(ask, runId);
    if (capabilities.elicitation?.form) {
      const request = {
        mode: 'form',
        sessionId: session.id,
        toolCallId,
        message: shown.text,
        requestedSchema: formOf(shown),
      } as const;
      return answerOf(await client.request('elicitation/create', request, withdrawnBy(signal)));
    }
    // Editors can be set to allow everything: that must not repeat a call (D-397).
    if (shown.options.length === 0 || shown.multiple || shown.isAboutCall) return undefined;
    const toolCall = { toolCallId, title: printable(ask.question) };
    const options = permissionOptions(shown.options);
    const chosen = shown.options[Number(await this.#choose({ toolCall, options }, signal))];
    return chosen && { answer: chosen.label };
  }

  async #waitingText(ask: AskItem): Promise<string> {
    if (ask.about === 'question') return `\n\n${shownQuestion(ask).text}\n`;
    const { link } = this.#parts;
    const because = askedBecause(ask);
    const why = because === '' ? '' : ` ${because}`;
    return `\n\n(waiting for permission to run ${printable(ask.name)}: ${await link()})${why}\n`;
  }

  /** The option that the person selected; undefined if they closed the dialog. */
  async #choose(
    request: Omit<RequestPermissionRequest, 'sessionId'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, session } = this.#parts;
    const { outcome } = await client.request(
      'session/request_permission',
      { ...request, sessionId: session.id },
      withdrawnBy(signal),
    );
    return outcome.outcome === 'selected' ? outcome.optionId : undefined;
  }

  async #say(text: string): Promise<void> {
    const { client, session } = this.#parts;
    const update = said('agent_message_chunk', text);
    await client.notify('session/update', { sessionId: session.id, update });
  }
}

/** The same call with the same input, for the rest of the session (D-521). */
const allowAlways = {
  optionId: 'always',
  name: 'Allow this exact call for the whole session',
  kind: 'allow_always',
} as const;

/** `$/cancel_request`, and no wait for the answer to it. */
function withdrawnBy(cancellationSignal: AbortSignal) {
  return { cancellationSignal, stopWaitingOnCancel: true };
}
