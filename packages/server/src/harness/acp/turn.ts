import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { type Agent, needsApproval } from '../../domain/agent.ts';
import { matchesGlob } from '../../domain/rules/glob.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Answer, Effects, HarnessEvent } from '../../ports/harness.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedJson } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { OpenRequests } from '../open-requests.ts';
import type { GrantedCalls, ParkedRequest } from '../parked-requests.ts';
import { questionEvent, questionsOf, responseTo } from './elicitation.ts';
import type { Progress } from './state.ts';
import { allowOutcome, isAllowOf, decidePermission, rejectOutcome } from './permission.ts';
import type { Listener } from './process.ts';
import { TurnCalls } from './turn-calls.ts';
import { eventOf } from './updates.ts';

/** Remembered calls of one turn; agents ask about recent calls only. */
const callsMax = 1000;
/** The end of the answer that is kept, to tell an agent that is handed over where it stopped. */
const saidCharactersMax = 400;

export interface TurnParts {
  readonly agent: Agent;
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
export class Turn implements Listener {
  readonly #parts: TurnParts;
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

  constructor(parts: TurnParts) {
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

  /** The end of what the agent said in this turn. */
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
      // Longer than what is kept, so that a secret at its start is still whole.
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
    const decision = decidePermission(this.#parts, call);
    if (decision.kind === 'refuse') {
      this.#emitRefusal(call, decision.reason);
      return { outcome: rejectOutcome(request.options) };
    }
    const toolInput = redactedJson(decision.toolInput, this.#parts.redact);
    const intent = { toolName: decision.toolName, input: toolInput };
    const granted = this.#parts.granted.take(intent.toolName, toolInput);
    const ref = granted ?? `permission-${(this.#requests += 1)}`;
    const isAsked = decision.kind === 'ask' && granted === undefined;
    const answer = isAsked ? await this.#ask(call, { ref, ...intent }) : undefined;
    if ((isAsked && answer === undefined) || !this.#mayAct) return this.#afterStop(cancelled);
    this.#waiting = this.#waiting.filter((parked) => parked.ref !== ref);
    if (answer !== undefined && !isAllowOf(answer, toolInput)) {
      if (answer.kind === 'permission' && answer.allow) {
        this.#emitRefusal(call, 'ACP agents cannot be given a changed input');
      }
      return { outcome: rejectOutcome(request.options) };
    }
    const mayBegin = await this.#calls.begin(call, { ref, ...intent });
    if (!mayBegin || !this.#mayAct) return cancelled;
    const by = decision.kind === 'ask' ? 'person' : 'settings';
    return { outcome: allowOutcome(request.options, by) };
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

  /** The prompt has arrived: what it says about earlier requests need not be said again. */
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
   * Stops an agent that completed a call without asking, if the call needs approval or is not among its tools. An agent
   * decides itself whether to ask: by its mode, its settings, its list of harmless commands. `think` has no effects.
   */
  #onCall({ toolCallId, kind, status, title }: ToolCallUpdate): void {
    const { agent, tools, redact, onBreach } = this.#parts;
    if (status !== 'completed' || this.#asked.has(toolCallId) || kind === 'think') return;
    const toolName = kind ?? 'other';
    const did = `The agent did "${redact(title ?? '').slice(0, 200)}" (${toolName})`;
    if (!tools.some((glob) => matchesGlob(glob, toolName))) {
      const advice = `Run it in a mode in which it asks first, or add ${toolName} to tools.`;
      onBreach(new LegFailure('agent_error', `${did}, which is not among its tools. ${advice}`));
    } else if (needsApproval(agent, toolName)) {
      const advice = `Run it in a mode in which it asks first, or take ${toolName} out of approval_required_tools.`;
      onBreach(new LegFailure('agent_error', `${did} without asking. ${advice}`));
    }
  }

  #emitRefusal({ toolCallId, kind, title }: ToolCallUpdate, reason: string): void {
    const data = { tool_call_id: toolCallId, kind: kind ?? 'other', title: title ?? '', reason };
    this.#emit({ type: 'custom', name: 'tool_refused', data });
  }

  #emit(event: HarnessEvent): void {
    this.queue.push(redactedEvent(event, this.#parts.redact));
  }
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
