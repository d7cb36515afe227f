import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { JsonObject } from '../../domain/json.ts';
import type { Answer, CallToDecide, Effects, HarnessEvent } from '../../ports/harness.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedJson } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { OpenRequests } from '../open-requests.ts';
import type { GrantedCalls, ParkedRequest } from '../parked-requests.ts';
import { questionEvent, questionsOf, responseTo } from './elicitation.ts';
import type { Progress } from './state.ts';
import { allowOutcome, isAllowOf, keptInput, rejectOutcome, shownCall } from './permission.ts';
import type { Listener } from './process.ts';
import { TurnCalls } from './turn-calls.ts';
import { eventOf } from './updates.ts';

/** Remembered calls of one turn; agents ask about recent calls only. */
const callsMax = 1000;
/** The end of the answer that is kept, to tell an agent that is handed over where it stopped. */
const saidCharactersMax = 400;

export interface PromptTurnParts {
  readonly tools: readonly string[];
  /** Whether a person can be asked. */
  readonly asksUser: boolean;
  readonly holdsLease: () => boolean;
  readonly effects: Effects;
  readonly queue: EventQueue;
  readonly model: () => string | undefined;
  readonly redact: (text: string) => string;
  /** What earlier legs of the run know. */
  readonly before: Progress;
  /** Calls of earlier legs that the agent may make now. */
  readonly granted: GrantedCalls;
  /** Called before an event that a leg after a loss has to know of. */
  readonly onProgress: () => void;
  /** Called after each message of the agent: the turn may be safe to stop now. */
  readonly onStep: () => void;
  /** Called with the cost of the session, as the agent reports it. */
  readonly onCost: (cost: unknown) => void;
  /** Called when the agent did something that it may not. */
  readonly onBreach: (failure: LegFailure) => void;
}

/** Handles the agent's updates and requests between a prompt and its end. */
export class PromptTurn implements Listener {
  readonly #parts: PromptTurnParts;
  readonly #known = new BoundedMap<string, ToolCallUpdate>(callsMax);
  readonly #asked = new Set<string>();
  readonly #open = new OpenRequests();
  readonly #calls: TurnCalls;
  #waiting: readonly ParkedRequest[];
  #requests: number;
  #said = '';
  #hasHeard = false;
  #isCancelled = false;
  /** Resolves when the agent has got the request to stop; undefined as long as it may work. */
  #stopping: Promise<void> | undefined;
  #hasWithdrawn = false;

  constructor(parts: PromptTurnParts) {
    this.#parts = parts;
    this.#calls = new TurnCalls({ ...parts, before: parts.before.calls });
    this.#requests = parts.before.requests;
    this.#waiting = parts.before.asked;
  }

  get progress(): Progress {
    return {
      requests: this.#requests,
      calls: [...this.#calls.all],
      asked: [...this.#waiting],
    };
  }

  /** The end of the agent's text in this turn. */
  get said(): string {
    return this.#parts.redact(this.#said).slice(-saidCharactersMax);
  }

  /** Whether the agent works on the prompt, and nothing that it does has an effect: it can be stopped. */
  get isSafe(): boolean {
    return this.#hasHeard && this.#calls.isIdle;
  }

  get queue(): EventQueue {
    return this.#parts.queue;
  }

  update(update: SessionUpdate): void {
    this.#hear();
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const call = this.#remember(update);
      this.#calls.report(call);
      this.#onCall(call);
    }
    if (update.sessionUpdate === 'usage_update') this.#parts.onCost(update.cost);
    const event = eventOf(update, this.#parts.model());
    if (event?.type === 'message_delta') {
      // Longer than the part that is kept, so that a secret at its start is still whole.
      this.#said = `${this.#said}${event.text}`.slice(-4 * saidCharactersMax);
    }
    if (event !== undefined) this.#emit(event);
    this.#parts.onStep();
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    this.#hear();
    const call = this.#remember(request.toolCall);
    this.#asked.add(call.toolCallId);
    if (!this.#mayAct) return this.#withdraw(call);
    const shown = shownCall(this.#parts.tools, call);
    if (!shown.ok) return this.#refuse(request, call, shown.reason);
    const { redact, granted: grants } = this.#parts;
    const { toolName, canBeAsked } = shown;
    const input = redactedJson(shown.toolInput, redact);
    const kept = keptInput(shown, input);
    const granted = grants.take(toolName, kept);
    const ref = granted ?? `permission-${(this.#requests += 1)}`;
    const decided = await this.#calls.decide({ ref, toolName, input });
    if (!this.#mayAct) return this.#afterStop(cancelled);
    const isAsked = decided.kind === 'ask' && granted === undefined;
    if (isAsked && !canBeAsked) {
      return this.#refuse(request, call, 'its input is too long to be shown for approval');
    }
    const answer = isAsked ? await this.#ask(call, { ref, toolName, input }) : undefined;
    if ((isAsked && answer === undefined) || !this.#mayAct) return this.#afterStop(cancelled);
    this.#waiting = this.#waiting.filter((parked) => parked.ref !== ref);
    if (answer !== undefined && !isAllowOf(answer, input)) {
      const isAllowed = answer.kind === 'permission' && answer.allow;
      if (isAllowed) this.#emitRefusal(call, 'ACP agents cannot be given a changed input');
      return { outcome: rejectOutcome(request.options) };
    }
    const isFree = decided.kind === 'allowed' && !decided.isNamed;
    const outcome = allowOutcome(request.options, isFree ? 'always' : 'once');
    // A denial is still written down.
    if (outcome === undefined && decided.kind !== 'denied') {
      return this.#refuse(request, call, 'it can only be allowed for good');
    }
    const intent = { ref, toolName, input: kept, wholeInput: input, outcome };
    return this.#beginOrRefuse(request, call, intent);
  }

  async #beginOrRefuse(
    request: RequestPermissionRequest,
    call: ToolCallUpdate,
    { outcome, ...intent }: Intent,
  ): Promise<RequestPermissionResponse> {
    const begun = await this.#calls.begin(call, intent);
    if (begun.kind === 'denied') return this.#refuse(request, call, begun.reason);
    if (begun.kind === 'ask') return this.#refuse(request, call, 'a rule about it has changed');
    if (begun.kind === 'left' || !this.#mayAct) return cancelled;
    return { outcome: outcome ?? rejectOutcome(request.options) };
  }

  #refuse(
    { options }: RequestPermissionRequest,
    call: ToolCallUpdate,
    reason: string,
  ): RequestPermissionResponse {
    this.#emitRefusal(call, reason);
    return { outcome: rejectOutcome(options) };
  }

  /** Asks a person about a call. Undefined when the request is cancelled. */
  async #ask(
    call: ToolCallUpdate,
    { ref, toolName, input }: { ref: string; toolName: string; input: JsonObject },
  ): Promise<Answer | undefined> {
    const title = this.#parts.redact(call.title ?? '');
    const answered = this.#waitFor({ ref, title, tool: toolName });
    this.#calls.wait(call, ref);
    this.#parts.onProgress();
    const { toolCallId } = call;
    this.queue.push({ type: 'permission_request', ref, toolCallId, toolName, toolInput: input });
    this.#parts.onStep();
    return answered;
  }

  #waitFor(request: ParkedRequest): Promise<Answer | undefined> {
    this.#waiting = [...this.#waiting, request];
    return this.#open.waitFor(request.ref);
  }

  /** The prompt has arrived: its notes about earlier requests need not be repeated. */
  #hear(): void {
    if (this.#hasHeard) return;
    this.#hasHeard = true;
    const { granted } = this.#parts;
    this.#waiting = this.#waiting.filter(({ ref }) => granted.has(ref));
  }

  /** False once the turn is stopped or another server holds the lease: then no call may start. */
  get #mayAct(): boolean {
    const isStopped = this.#isCancelled || this.#stopping !== undefined;
    return !isStopped && this.#parts.holdsLease();
  }

  /** Refuses a call that the agent asked for when its turn was already being stopped. */
  async #withdraw(call: ToolCallUpdate): Promise<RequestPermissionResponse> {
    this.#hasWithdrawn = true;
    this.#calls.withdraw(call);
    return this.#afterStop(cancelled);
  }

  /** An agent that saw a refusal before it saw the cancel would continue with something else. */
  async #afterStop(response: RequestPermissionResponse): Promise<RequestPermissionResponse> {
    await this.#stopping;
    return response;
  }

  async elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
    this.#hear();
    const questions = this.#parts.asksUser ? questionsOf(request) : undefined;
    if (questions === undefined || this.#isCancelled) return { action: 'cancel' };
    const number = (this.#requests += 1);
    const refs = questions.map((_, index) => `question-${number}.${index + 1}`);
    const answered = questions.map(({ question }, index) => {
      const title = this.#parts.redact(question);
      return this.#waitFor({ ref: refs[index] ?? '', title, tool: null });
    });
    this.#parts.onProgress();
    for (const [index, question] of questions.entries()) {
      this.#emit(questionEvent(question, refs[index] ?? ''));
    }
    this.#parts.onStep();
    const answers = await Promise.all(answered);
    const given = answers.filter((answer) => answer !== undefined);
    if (given.length < answers.length || this.#isCancelled) return { action: 'cancel' };
    this.#waiting = this.#waiting.filter(({ ref }) => !refs.includes(ref));
    return responseTo(questions, given);
  }

  /** False when no open request has this `ref`. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** No call may start from now on. Open requests are cancelled once the agent has got the request to stop. */
  stop(sent: Promise<void>): void {
    this.#stopping = sent.then(() => this.cancel());
  }

  /** Cancels all open requests, and every later one. They stay in `progress`. */
  cancel(): void {
    this.#isCancelled = true;
    this.#calls.stop();
    this.#open.cancel();
  }

  /** Whether a call was refused because the turn was being stopped. */
  get hasWithdrawn(): boolean {
    return this.#hasWithdrawn;
  }

  /** Whether the agent waits for a person. */
  get isWaiting(): boolean {
    return this.#waiting.some(({ ref }) => !this.#parts.granted.has(ref));
  }

  /** Resolves when the ledger has the results of all calls that are over. */
  settled(): Promise<void> {
    return this.#calls.settled();
  }

  /** Merges the messages about a call: later ones contain only what is new. */
  #remember(message: ToolCallUpdate): ToolCallUpdate {
    const fields = Object.entries(message).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    const call: ToolCallUpdate = {
      ...this.#known.get(message.toolCallId),
      ...Object.fromEntries(fields),
      toolCallId: message.toolCallId,
    };
    this.#known.set(call.toolCallId, call);
    return call;
  }

  /**
   * Stops an agent that completed a call without asking, if a rule does not allow it or it is not among its tools. An
   * agent decides itself whether to ask: by its mode, its settings, its list of harmless commands. `think` has no
   * effects.
   */
  #onCall(call: ToolCallUpdate): void {
    const { toolCallId, kind, status, title } = call;
    const { tools, redact, onBreach } = this.#parts;
    if (status !== 'completed' || this.#asked.has(toolCallId) || kind === 'think') return;
    this.#asked.add(toolCallId);
    const shown = shownCall(tools, call);
    const toolName = kind ?? 'other';
    const did = `The agent did "${redact(title ?? '').slice(0, 200)}" (${toolName})`;
    if (!shown.ok) {
      const advice = `Run it in a mode in which it asks first, or add ${toolName} to tools.`;
      onBreach(new LegFailure('agent_error', `${did}, which is not among its tools. ${advice}`));
    } else {
      const input = redactedJson(shown.toolInput, redact);
      this.#calls.settle(
        this.#decideAfterwards({ ref: `unasked-${toolCallId}`, toolName, input }, did),
      );
    }
  }

  async #decideAfterwards(call: CallToDecide, did: string): Promise<void> {
    const { kind } = await this.#calls.decide(call);
    if (kind !== 'ask' && kind !== 'denied') return;
    const advice = `Run it in a mode in which it asks first, or take ${call.toolName} out of the rules.`;
    this.#parts.onBreach(new LegFailure('agent_error', `${did} without asking. ${advice}`));
  }

  #emitRefusal({ toolCallId, kind, title }: ToolCallUpdate, reason: string): void {
    const data = { tool_call_id: toolCallId, kind: kind ?? 'other', title: title ?? '', reason };
    this.#emit({ type: 'custom', name: 'tool_refused', data });
  }

  #emit(event: HarnessEvent): void {
    this.queue.push(redactedEvent(event, this.#parts.redact));
  }
}

interface Intent {
  readonly ref: string;
  readonly toolName: string;
  readonly input: JsonObject;
  readonly wholeInput: JsonObject;
  /** Absent where the call is denied. */
  readonly outcome: RequestPermissionOutcome | undefined;
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
