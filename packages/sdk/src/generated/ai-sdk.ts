// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import {
  type AskItem,
  type CallItem,
  type EndItem,
  type PermissionItem,
  type ResultItem,
  type SettledItem,
  Turn,
  type TurnEvent,
  type TurnItem,
} from './turn.ts';
import { isVoid, lastIdIn, type Speech, speechChunks, type VoidText } from './speech.ts';
import {
  type SpeechKind,
  type UiCall,
  type UiChunk,
  type UiMetadata,
  type UiUsage,
  answerOf,
  errorChunk,
  inputChunk,
  outputChunk,
  permissionCall,
  questionCall,
  standingOf,
  textOfOutput,
} from './ui-chunks.ts';
import type { JsonObject } from './values.ts';

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
  /** What the run has used; asked for at its end, because no event has it. */
  readonly usage?: () => UiUsage | undefined;
}

interface ShownCall extends UiCall {
  /** The step that shows it. */
  readonly step: number;
  state: 'called' | 'asked' | 'over';
  /** Everything that was said of it. */
  readonly chunks: UiChunk[];
}

/**
 * Encodes the events of one run as one assistant message of the AI SDK's UI (D-203 to D-208). Give it every event from
 * the first on, once and in order. The chunks of any two streams of a run add up to the same message.
 *
 * A message consists of steps. `sendAutomaticallyWhen` of the library looks at the last step only, and after every
 * response; so requests to a person have a step of their own, and what comes after the answers is in another one (D-206).
 */
export class UiStream {
  readonly #turn = new Turn();
  readonly #options: UiStreamOptions;
  readonly #calls = new Map<string, ShownCall>();
  readonly #unseen: Set<string>;
  /** What the current step shows, in order. */
  #step: (Speech | ShownCall)[] = [];
  #steps = 0;
  #isAsking = false;
  #isSpeaking = false;
  /** The last delta of text that an earlier step shows. */
  #lastBefore = '';
  #lastId: string | undefined;
  #out: UiChunk[] = [];
  #isOver = false;
  #mustCut = false;

  constructor(options: UiStreamOptions) {
    this.#options = options;
    this.#unseen = new Set(options.after === undefined ? options.shown : []);
  }

  /** The response is complete: nothing may follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The reader shows text that is void, and no chunk can take it back: cut its connection, so that it resumes (D-207). */
  get mustCut(): boolean {
    return this.#mustCut;
  }

  /** The first chunk of every response. */
  start(): UiChunk {
    return {
      type: 'start',
      messageId: this.#options.runId,
      messageMetadata: { ...this.#ids(), status: 'running', waiting: [] },
    };
  }

  take(event: TurnEvent): readonly UiChunk[] {
    if (this.#isOver || this.#mustCut) return [];
    const items = this.#turn.take(event);
    this.#lastId = event.id;
    for (const item of items) this.#encode(item);
    const chunks = this.#out;
    this.#out = [];
    const { after } = this.#options;
    const isKnown = after === undefined ? this.#unseen.size > 0 : event.id <= after;
    for (const item of items) if (item.kind === 'ask') this.#unseen.delete(item.key);
    if (isKnown) this.#mustCut = false;
    return isKnown && !this.#isOver ? [] : chunks;
  }

  /** Call it when there are no more events for now: a wait for a person ends the response, unless it is held. */
  pause(): readonly UiChunk[] {
    if (this.#isOver || this.#options.isHeld === true || this.#turn.waiting.length === 0) return [];
    this.#isOver = true;
    return [{ type: 'finish', finishReason: 'tool-calls', messageMetadata: this.metadata() }];
  }

  /** What the message says of its run at this moment. */
  metadata(end?: EndItem): UiMetadata {
    const standing = { lastId: this.#lastId, end, usage: this.#options.usage };
    return { ...this.#ids(), ...standingOf(this.#turn, standing) };
  }

  #ids(): Pick<UiMetadata, 'session_id' | 'run_id' | 'truncated'> {
    const { sessionId, runId, isTruncated } = this.#options;
    return {
      session_id: sessionId,
      run_id: runId,
      ...(isTruncated === true && { truncated: true }),
    };
  }

  get #isSix(): boolean {
    return this.#options.sdk === 6;
  }

  #encode(item: TurnItem): void {
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
        return this.#ask(item);
      case 'settled':
        return this.#settle(item);
      case 'interrupted':
        return item.discardFrom === undefined ? undefined : this.#discard(item.discardFrom);
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
    const last = this.#step.at(-1);
    let speech = this.#isSpeaking && last !== undefined && 'deltas' in last ? last : undefined;
    if (speech?.kind !== kind) {
      this.#endSpeech();
      speech = { kind, id: `${kind.slice(0, 1)}${delta.id}`, deltas: [] };
      this.#step.push(speech);
      this.#isSpeaking = true;
      this.#out.push({ type: `${kind}-start`, id: speech.id });
    }
    speech.deltas.push({ id: delta.id, text: delta.text });
    this.#out.push({ type: `${kind}-delta`, id: speech.id, delta: delta.text });
  }

  #endSpeech(): void {
    const last = this.#step.at(-1);
    if (this.#isSpeaking && last !== undefined && 'deltas' in last) {
      this.#out.push({ type: `${last.kind}-end`, id: last.id });
    }
    this.#isSpeaking = false;
  }

  #call({ call: id, name, input, isNew }: CallItem): void {
    if (!isNew) return;
    this.#leaveRequests();
    this.#show({ id, name, input, isQuestion: false });
  }

  #show(shown: UiCall): ShownCall {
    this.#endSpeech();
    const call: ShownCall = { ...shown, step: this.#steps, state: 'called', chunks: [] };
    this.#calls.set(call.id, call);
    this.#step.push(call);
    this.#say(call, inputChunk(call));
    return call;
  }

  #say(call: ShownCall, chunk: UiChunk): void {
    call.chunks.push(chunk);
    this.#out.push(chunk);
  }

  #result({ call: id, ok, output }: ResultItem): void {
    const call = this.#calls.get(id);
    // A person denied the call: what the agent got instead of a result is not one.
    if (call === undefined || call.state === 'over') return;
    call.state = 'over';
    this.#say(call, ok ? outputChunk(call, output) : errorChunk(call, textOfOutput(output)));
  }

  #ask(ask: AskItem): void {
    this.#endSpeech();
    const known = ask.about === 'permission' ? this.#calls.get(ask.call) : undefined;
    // Requests that are open at the same time share a step; those before are answered.
    if (!this.#isAsking || this.#turn.waiting.length === 1) this.#beginAsking(known);
    const isHere = known?.step === this.#steps;
    const call = isHere ? known : this.#show(callOf(ask));
    call.state = 'asked';
    if (ask.about === 'permission') {
      const { key: approvalId, call: toolCallId } = ask;
      this.#say(call, { type: 'tool-approval-request', approvalId, toolCallId });
    }
    this.#announce();
  }

  /** Takes a call that was shown before it is asked about out of its step: it belongs to the step of requests (D-206). */
  #beginAsking(known: ShownCall | undefined): void {
    const isMoved = !this.#isSix && known !== undefined && this.#step.includes(known);
    if (isMoved) {
      this.#step = this.#step.filter((entry) => entry !== known);
      this.#repeatStep();
    }
    this.#nextStep();
    this.#isAsking = true;
  }

  #settle({ key, ask, outcome }: SettledItem): void {
    const call = this.#calls.get(ask?.about === 'permission' ? ask.call : key);
    if (ask === undefined || call === undefined) return;
    const isAllowed = outcome['decision'] === 'allow';
    call.state = isAllowed ? 'called' : 'over';
    if (ask.about === 'question') this.#answer(call, outcome);
    else {
      this.#say(call, this.#decision(call, ask, outcome));
      if (!isAllowed) this.#say(call, { type: 'tool-output-denied', toolCallId: call.id });
    }
    this.#announce();
  }

  /** An answered question beside open requests would make the library send its message again and again (D-206). */
  #answer(call: ShownCall, outcome: JsonObject): void {
    this.#say(call, outputChunk(call, answerOf(outcome)));
    const isOpen = (entry: Speech | ShownCall) => 'state' in entry && entry.state === 'asked';
    const open = this.#step.filter(isOpen);
    if (open.length === 0) return;
    this.#step = this.#step.filter((entry) => !isOpen(entry));
    if (!this.#isSix) this.#repeatStep();
    this.#nextStep();
    this.#isAsking = true;
    for (const entry of open) {
      if ('chunks' in entry) this.#showAgain(entry);
    }
  }

  #showAgain(call: ShownCall): void {
    const shown = { ...call, step: this.#steps };
    this.#calls.set(call.id, shown);
    this.#step.push(shown);
    this.#out.push(...shown.chunks);
  }

  #decision(call: ShownCall, { key: approvalId }: PermissionItem, outcome: JsonObject): UiChunk {
    const { decision, message: reason } = outcome;
    // Version 6 knows no such chunk; with its input again, the call is no longer one that is asked about.
    if (this.#isSix) return inputChunk(call);
    const approved = decision === 'allow';
    const response = { type: 'tool-approval-response', approvalId, approved } as const;
    return typeof reason === 'string' ? { ...response, reason } : response;
  }

  /** Readers of a held stream see at once which interactions are pending. */
  #announce(): void {
    if (this.#options.isHeld !== true) return;
    this.#out.push({ type: 'message-metadata', messageMetadata: this.metadata() });
  }

  /** What follows the last answer is not part of the step of requests. */
  #leaveRequests(): void {
    if (this.#isAsking && this.#turn.waiting.length === 0) this.#nextStep();
  }

  #nextStep(): void {
    this.#endSpeech();
    this.#out.push({ type: 'finish-step' }, { type: 'start-step' });
    this.#lastBefore = this.#step.reduce(
      (last, entry) => ('deltas' in entry ? (lastIdIn(entry) ?? last) : last),
      this.#lastBefore,
    );
    this.#step = [];
    this.#steps += 1;
    this.#isAsking = false;
  }

  #discard(from: string): void {
    this.#endSpeech();
    if (this.#lastBefore >= from) this.#mustCut = true;
    const hasVoid = this.#step.some(
      (entry) => 'deltas' in entry && (lastIdIn(entry) ?? '') >= from,
    );
    if (!hasVoid) return;
    this.#step = this.#step.flatMap((entry) => {
      if (!('deltas' in entry) || entry.kind !== 'text') return [entry];
      const deltas = entry.deltas.filter(({ id }) => id < from);
      return deltas.length === 0 ? [] : [{ ...entry, deltas }];
    });
    if (this.#isSix) this.#mustCut = true;
    this.#repeatStep();
  }

  /** Shows the current step again, as it is now. */
  #repeatStep(): void {
    this.#out.push({ type: 'reset-step' });
    for (const entry of this.#step) {
      if ('chunks' in entry) this.#out.push(...entry.chunks);
      else this.#out.push(...speechChunks(entry));
    }
  }

  #end(end: EndItem): void {
    for (const call of this.#calls.values()) {
      const isLost = call.state === 'called' && end.outcome !== 'completed';
      if (call.state === 'asked' || isLost) this.#say(call, errorChunk(call, runHasEnded));
      call.state = 'over';
    }
    this.#endSpeech();
    if (this.#isAsking) this.#nextStep();
    this.#isOver = true;
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

function callOf(ask: AskItem): UiCall {
  return ask.about === 'question' ? questionCall(ask) : permissionCall(ask);
}
