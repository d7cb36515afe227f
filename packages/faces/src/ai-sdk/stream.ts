import {
  type AskItem,
  type CallItem,
  type EndItem,
  type PermissionItem,
  type ResultItem,
  type SettledItem,
  RunTranscript,
  type TranscriptEvent,
  type TranscriptItem,
} from '../transcript.ts';
import { type SpeechKind, type VoidText, isVoid } from '../speech.ts';
import { type MayAllow, isOffered } from '../approvers.ts';
import {
  type ClientCall,
  answerOf,
  deniedText,
  permissionCall,
  questionCall,
  textOfOutput,
} from '../calls.ts';
import type { Json, JsonObject } from '../json.ts';
import { type RunMetadata, type RunUsage, standingOf } from '../run-metadata.ts';
import { type UiChunk, errorChunk, inputChunk, outputChunk } from './chunks.ts';
import { type ShownCall, type StepKind, UiStep } from './step.ts';

export interface UiStreamOptions {
  readonly sessionId: string;
  readonly runId: string;
  /** The version of the library that reads it: 6 knows fewer chunks (D-207). */
  readonly sdk?: 6 | 7;
  /** The stream stays open while the run waits for a person (D-204). */
  readonly isHeld?: boolean;
  /** The reader has everything up to this event: it is only read to know where the message stands. */
  readonly after?: string | undefined;
  /** Instead of `after`: the reader has everything up to the last of these requests, by key. */
  readonly shown?: readonly string[];
  readonly voids?: readonly VoidText[];
  /** The run had ended before the stream was opened: its failure is not a failure of the page (D-208). */
  readonly hasEnded?: boolean;
  /** The events are not all there: the message shows only the text of the run (D-195). */
  readonly isTruncated?: boolean;
  /** The usage of the run; read at its end, because no event has it. */
  readonly usage?: () => RunUsage | undefined;
  /** Absent for a reader that may allow every call. */
  readonly mayAllow?: MayAllow | undefined;
}

/**
 * Where a response is. It only moves down this list:
 *
 * - `behind`: the reader has these events from an earlier response. They are read, and nothing is sent.
 * - `sending`: each event becomes chunks.
 * - `cut`: the reader shows text that is void, and no chunk can take it back: the connection is cut, and the reader
 *   resumes (D-207).
 * - `over`: the response is complete. Nothing may follow.
 */
type Phase = 'behind' | 'sending' | 'cut' | 'over';

/**
 * Encodes the events of one run as one assistant message of the AI SDK's UI (D-203 to D-208). Give it every event from
 * the first on, once and in order. The chunks of any two streams of a run add up to the same message, however the
 * events come in batches; in version 6, which cannot take parts back, up to copies of requests that are open, and to
 * text that is two parts where a response ended in it.
 *
 * A message consists of steps. `sendAutomaticallyWhen` of the library looks at the last step only, and after every
 * response; so requests to a person have a step of their own, and what follows the answers is in another one (D-206).
 */
export class UiStream {
  readonly #transcript = new RunTranscript();
  readonly #options: UiStreamOptions;
  readonly #calls = new Map<string, ShownCall>();
  readonly #unseen: Set<string>;
  readonly #out: UiChunk[] = [];
  #phase: Phase;
  #step = new UiStep(0, 'work', this.#out);
  /** The open requests have changed since a reader of a held stream was told. */
  #mustAnnounce = false;
  /** The last delta of text that an earlier step shows. */
  #lastBefore = '';
  /** The output of the agent, kept until the end of the run, which follows it (D-842). */
  #output: Json | undefined;
  /** Keys of the requests that wait for other people. */
  readonly #withheld = new Set<string>();
  #lastId: string | undefined;

  constructor(options: UiStreamOptions) {
    this.#options = options;
    this.#unseen = new Set(options.after === undefined ? options.shown : []);
    this.#phase = options.after !== undefined || this.#unseen.size > 0 ? 'behind' : 'sending';
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  get mustCut(): boolean {
    return this.#phase === 'cut';
  }

  /** The first chunk of every response. */
  start(): UiChunk {
    return {
      type: 'start',
      messageId: this.#options.runId,
      messageMetadata: { ...this.#ids(), status: 'running', waiting: [] },
    };
  }

  /** Pass whether other events of the batch follow: their changes are sent once, after the last (D-465). */
  take(event: TranscriptEvent, isFollowed = false): readonly UiChunk[] {
    if (this.#phase === 'behind' && !this.#isKnown(event)) this.#catchUp();
    if (this.#phase !== 'sending' && this.#phase !== 'behind') return [];
    const items = this.#transcript.take(event);
    this.#lastId = event.id;
    for (const item of items) this.#encode(item);
    for (const item of items) if (item.kind === 'ask') this.#unseen.delete(item.key);
    if (this.#phase === 'behind') this.#skip();
    else if (!isFollowed) this.#show();
    return this.#out.splice(0);
  }

  #isKnown({ id }: TranscriptEvent): boolean {
    const { after } = this.#options;
    return after === undefined ? this.#unseen.size > 0 : id <= after;
  }

  /** The reader already has the held parts. */
  #skip(): void {
    this.#step.skip();
    this.#mustAnnounce = false;
    this.#out.length = 0;
  }

  /** From here on, everything is new to the reader. */
  #catchUp(): void {
    this.#phase = 'sending';
    this.#step.continueSpeech({ isTakenBack: !this.#isVersion6 });
  }

  /** Call it when there are no more events for now: a wait for a person ends the response, unless it is held. */
  pause(): readonly UiChunk[] {
    if (this.#phase === 'over') return [];
    this.#show();
    const isEnd = this.#options.isHeld !== true && this.#transcript.waiting.length > 0;
    if (!isEnd) return this.#out.splice(0);
    if (this.#phase === 'sending') this.#step.endSpeech();
    this.#phase = 'over';
    const finish = { type: 'finish', finishReason: 'tool-calls' } as const;
    return [...this.#out.splice(0), { ...finish, messageMetadata: this.metadata() }];
  }

  /** The message's metadata about its run at this moment. */
  metadata(end?: EndItem): RunMetadata {
    const standing = { lastId: this.#lastId, end, usage: this.#options.usage };
    return { ...this.#ids(), ...standingOf(this.#transcript, standing) };
  }

  #ids(): Pick<RunMetadata, 'session_id' | 'run_id' | 'truncated'> {
    const { sessionId, runId, isTruncated } = this.#options;
    return {
      session_id: sessionId,
      run_id: runId,
      ...(isTruncated === true && { truncated: true }),
    };
  }

  get #isVersion6(): boolean {
    return this.#options.sdk === 6;
  }

  #encode(item: TranscriptItem): void {
    switch (item.kind) {
      case 'begin':
        this.#out.push({ type: 'start-step' });
        return;
      case 'text':
      case 'thought':
        return this.#speak(item.kind === 'text' ? 'text' : 'reasoning', item);
      case 'call':
        return this.#call(item);
      case 'result':
        return this.#result(item);
      case 'ask':
        return isOffered(item, this.#options.mayAllow) ? this.#ask(item) : this.#withhold(item);
      case 'settled':
        return this.#settle(item);
      case 'interrupted':
        return item.discardFrom === undefined ? undefined : this.#discard(item.discardFrom);
      case 'output':
        this.#output = item.output;
        return;
      case 'note': {
        const { type, data } = item;
        this.#out.push({ type: 'data-convoke', data: { type, data }, transient: true });
        return;
      }
      case 'end':
        return this.#end(item);
      default:
        return item satisfies never;
    }
  }

  #speak(kind: SpeechKind, delta: { readonly id: string; readonly text: string }): void {
    if (delta.text === '' || (kind === 'text' && isVoid(this.#options.voids, delta.id))) return;
    this.#leaveRequests();
    this.#step.speak(kind, delta);
  }

  #call({ call: id, name, input, isNew }: CallItem): void {
    if (!isNew) return;
    this.#leaveRequests();
    this.#showCall({ id, name, input, isQuestion: false });
  }

  #showCall(shown: ClientCall): ShownCall {
    const call: ShownCall = { ...shown, step: this.#step.number, state: 'called', chunks: [] };
    this.#calls.set(call.id, call);
    this.#step.add(call);
    this.#say(call, inputChunk(call));
    return call;
  }

  #say(call: ShownCall, chunk: UiChunk): void {
    if (call.step === this.#step.number) this.#step.say(call, chunk);
    else this.#out.push(chunk);
  }

  #result({ call: id, ok, output }: ResultItem): void {
    const call = this.#calls.get(id);
    // A person denied the call: the agent's replacement for a result is no result.
    if (call === undefined || call.state === 'over') return;
    call.state = 'over';
    this.#say(call, ok ? outputChunk(call, output) : errorChunk(call, textOfOutput(output)));
  }

  #ask(ask: AskItem): void {
    this.#step.endSpeech();
    const known = ask.about === 'permission' ? this.#calls.get(ask.call) : undefined;
    // Requests that are open at the same time share a step; those before are answered.
    if (this.#step.kind === 'work' || this.#transcript.waiting.length === 1) {
      this.#beginAsking(known);
    }
    const isHere = known?.step === this.#step.number;
    const call = isHere ? known : this.#showCall(callOf(ask));
    call.state = 'asked';
    if (ask.about === 'permission') {
      const { key: approvalId, call: toolCallId } = ask;
      this.#say(call, { type: 'tool-approval-request', approvalId, toolCallId });
    }
    this.#announce();
  }

  /**
   * Shows a request that other people decide on as a call that runs. Open requests leave its step: the library sends
   * their answers only when every call of the step is complete.
   */
  #withhold(ask: AskItem): void {
    if (ask.about === 'question') return;
    this.#withheld.add(ask.key);
    this.#step.endSpeech();
    this.#leaveAnswered();
    if (!this.#calls.has(ask.call)) this.#showCall(permissionCall(ask));
    const data = { type: 'permission_request', data: ask.data };
    this.#out.push({ type: 'data-convoke', data, transient: true });
    if (this.#step.kind === 'requests') this.#moveRequests();
    this.#announce();
  }

  /** Takes a call that was shown before it is asked about out of its step, into the step of requests (D-206). */
  #beginAsking(known: ShownCall | undefined): void {
    const isMoved = !this.#isVersion6 && known?.step === this.#step.number;
    if (isMoved) this.#step.remove([known], { isTakenBack: true });
    this.#nextStep('requests');
  }

  #settle({ key, ask, outcome }: SettledItem): void {
    const call = this.#calls.get(ask?.about === 'permission' ? ask.call : key);
    if (ask === undefined || call === undefined) return;
    if (this.#withheld.delete(key)) {
      this.#settleWithheld(call, outcome);
      return;
    }
    const isAllowed = outcome['decision'] === 'allow';
    call.state = isAllowed ? 'called' : 'over';
    if (ask.about === 'question') this.#answer(call, outcome);
    else {
      this.#say(call, this.#decision(call, ask, outcome));
      if (!isAllowed) this.#say(call, { type: 'tool-output-denied', toolCallId: call.id });
    }
    if (this.#withheld.size > 0) this.#leaveAnswered();
    this.#announce();
  }

  /** The library would send a step of answered requests again and again while the run waits for other people. */
  #leaveAnswered(): void {
    const isDone = this.#step.calls.every(({ state }) => state !== 'asked');
    if (this.#step.kind === 'requests' && isDone) this.#nextStep('work');
  }

  #settleWithheld(call: ShownCall, { decision, message }: JsonObject): void {
    this.#announce();
    if (decision === 'allow') return;
    call.state = 'over';
    this.#say(call, errorChunk(call, deniedText(message)));
  }

  /** An answered question beside open requests would make the library send its message again and again (D-206). */
  #answer(call: ShownCall, outcome: JsonObject): void {
    this.#say(call, outputChunk(call, answerOf(outcome)));
    this.#moveRequests();
  }

  /** Shows the open requests in a step of their own. */
  #moveRequests(): void {
    const open = this.#step.calls.filter(({ state }) => state === 'asked');
    if (open.length === 0) return;
    this.#step.remove(open, { isTakenBack: !this.#isVersion6 });
    this.#nextStep('requests');
    const moved = open.map((entry) => ({ ...entry, step: this.#step.number }));
    for (const entry of moved) this.#calls.set(entry.id, entry);
    // The next event may answer another question.
    this.#step.keepBack(moved);
  }

  #decision(call: ShownCall, { key: approvalId }: PermissionItem, outcome: JsonObject): UiChunk {
    const { decision, message: reason } = outcome;
    // Version 6 knows no such chunk; with its input again, the call is no longer one that is asked about.
    if (this.#isVersion6) return inputChunk(call);
    const approved = decision === 'allow';
    const response = { type: 'tool-approval-response', approvalId, approved } as const;
    return typeof reason === 'string' ? { ...response, reason } : response;
  }

  /** Readers of a held stream see after each batch which interactions are pending. */
  #announce(): void {
    this.#mustAnnounce = this.#options.isHeld === true;
  }

  /** Sends the held parts and the open requests. */
  #show(): void {
    if (this.#phase !== 'sending') return;
    this.#step.show();
    if (!this.#mustAnnounce) return;
    this.#mustAnnounce = false;
    this.#out.push({ type: 'message-metadata', messageMetadata: this.metadata() });
  }

  /** After the last answer, a new step begins. */
  #leaveRequests(): void {
    const areAnswered = this.#transcript.waiting.length === 0;
    if (this.#step.kind === 'requests' && areAnswered) this.#nextStep('work');
  }

  #nextStep(kind: StepKind): void {
    this.#step.end();
    this.#out.push({ type: 'finish-step' }, { type: 'start-step' });
    this.#lastBefore = this.#step.lastText(this.#lastBefore);
    this.#step = new UiStep(this.#step.number + 1, kind, this.#out);
  }

  #discard(from: string): void {
    const isInStep = this.#step.discard(from);
    const isStuck = this.#lastBefore >= from || (isInStep && this.#isVersion6);
    if (isStuck && this.#phase === 'sending') this.#phase = 'cut';
  }

  #end(end: EndItem): void {
    for (const call of this.#calls.values()) {
      const isLost = call.state === 'called' && end.outcome !== 'completed';
      if (call.state === 'asked' || isLost) this.#say(call, errorChunk(call, runHasEnded));
      call.state = 'over';
    }
    this.#step.endSpeech();
    if (this.#step.kind === 'requests') this.#nextStep('work');
    this.#step.show();
    this.#phase = 'over';
    if (this.#output !== undefined) {
      this.#out.push({ type: 'data-output', id: 'output', data: this.#output });
    }
    const messageMetadata = this.metadata(end);
    this.#out.push({ type: 'finish-step' });
    if (end.outcome === 'cancelled') this.#out.push({ type: 'abort' });
    if (end.outcome === 'failed' && this.#options.hasEnded !== true) {
      this.#out.push({ type: 'message-metadata', messageMetadata });
      this.#out.push({ type: 'error', errorText: end.message ?? runHasEnded });
    } else {
      this.#out.push({ type: 'finish', finishReason: reasons[end.outcome], messageMetadata });
    }
  }
}

const runHasEnded = 'The run ended first.';

const reasons = { completed: 'stop', cancelled: 'other', failed: 'error' } as const;

function callOf(ask: AskItem): ClientCall {
  return ask.about === 'question' ? questionCall(ask) : permissionCall(ask);
}
