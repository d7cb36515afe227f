import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { type Agent, matchesGlob, needsApproval } from '../../domain/agent.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedJson } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { OpenRequests } from '../open-requests.ts';
import { questionEvent, questionsOf, responseTo } from './elicitation.ts';
import { ReportedCalls } from './reported-calls.ts';
import type { Progress } from './state.ts';
import { allowOutcome, isAllowOf, decidePermission, rejectOutcome } from './permission.ts';
import type { Listener } from './process.ts';
import { eventOf } from './updates.ts';

/** Remembered calls of one turn; agents ask about recent calls only. */
const callsMax = 1000;

export interface TurnParts {
  readonly agent: Agent;
  readonly tools: readonly string[];
  /** Whether a person can be asked. */
  readonly asksUser: boolean;
  readonly holdsLease: () => boolean;
  readonly queue: EventQueue;
  readonly model: () => string | undefined;
  readonly redact: (text: string) => string;
  /** What earlier legs of the run know. */
  readonly before: Progress;
  /** Called before an event that a leg after a loss has to know of. */
  readonly onProgress: () => void;
  /** Called when the agent did something that it may not. */
  readonly onBreach: (failure: LegFailure) => void;
}

/** Handles the agent's updates and requests between a prompt and its end. */
export class Turn implements Listener {
  readonly #parts: TurnParts;
  readonly #calls = new BoundedMap<string, ToolCallUpdate>(callsMax);
  readonly #asked = new Set<string>();
  readonly #open = new OpenRequests();
  readonly #reported: ReportedCalls;
  #requests: number;
  #isCancelled = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#reported = new ReportedCalls(parts.before.calls);
    this.#requests = parts.before.requests;
  }

  get progress(): Progress {
    return { requests: this.#requests, calls: [...this.#reported.all] };
  }

  get queue(): EventQueue {
    return this.#parts.queue;
  }

  update(update: SessionUpdate): void {
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const call = this.#remember(update);
      if (this.#reported.take(call, this.#parts.redact)) this.#parts.onProgress();
      this.#onCall(call);
    }
    const event = eventOf(update, this.#parts.model());
    if (event !== undefined) this.#emit(event);
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const call = this.#remember(request.toolCall);
    this.#asked.add(call.toolCallId);
    if (!this.#mayAct) return { outcome: { outcome: 'cancelled' } };
    const decision = decidePermission(this.#parts, call);
    if (decision.kind === 'allow') return { outcome: allowOutcome(request.options, 'settings') };
    if (decision.kind === 'refuse') {
      this.#emitRefusal(call, decision.reason);
      return { outcome: rejectOutcome(request.options) };
    }
    const { toolName } = decision;
    const toolInput = redactedJson(decision.toolInput, this.#parts.redact);
    const ref = `permission-${(this.#requests += 1)}`;
    const answered = this.#open.waitFor(ref);
    this.#parts.onProgress();
    this.queue.push({ type: 'permission_request', ref, toolName, toolInput });
    const answer = await answered;
    if (answer === undefined || !this.#mayAct) return { outcome: { outcome: 'cancelled' } };
    if (isAllowOf(answer, toolInput)) return { outcome: allowOutcome(request.options, 'person') };
    if (answer.kind === 'permission' && answer.allow) {
      this.#emitRefusal(call, 'ACP agents cannot be given a changed input');
    }
    return { outcome: rejectOutcome(request.options) };
  }

  /** False once the run is cancelled or its lease belongs to another server: then no call may start. */
  get #mayAct(): boolean {
    return !this.#isCancelled && this.#parts.holdsLease();
  }

  async elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
    const questions = this.#parts.asksUser ? questionsOf(request) : undefined;
    if (questions === undefined || this.#isCancelled) return { action: 'cancel' };
    const number = (this.#requests += 1);
    this.#parts.onProgress();
    const answered = questions.map((question, index) => {
      const ref = `question-${number}.${index + 1}`;
      const answer = this.#open.waitFor(ref);
      this.#emit(questionEvent(question, ref));
      return answer;
    });
    const answers = await Promise.all(answered);
    const given = answers.filter((answer) => answer !== undefined);
    if (given.length < answers.length) return { action: 'cancel' };
    return responseTo(questions, given);
  }

  /** False when no open request has this `ref`. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** Cancels all open requests, and every later one. */
  cancel(): void {
    this.#isCancelled = true;
    this.#open.cancel();
  }

  /** Merges the messages about a call: later ones contain only what is new. */
  #remember(message: ToolCallUpdate): ToolCallUpdate {
    const fields = Object.entries(message).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    const call: ToolCallUpdate = {
      ...this.#calls.get(message.toolCallId),
      ...Object.fromEntries(fields),
      toolCallId: message.toolCallId,
    };
    this.#calls.set(call.toolCallId, call);
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
