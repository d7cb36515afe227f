import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { EventQueue } from '../event-queue.ts';
import { redactedEvent, redactedJson } from '../event-redaction.ts';
import { LegFailure } from '../leg-failure.ts';
import { OpenRequests } from '../open-requests.ts';
import { type Agent, matchesGlob, needsApproval } from '../../domain/agent.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { questionEvent, questionsOf, responseTo } from './elicitation.ts';
import { allowed, isAllowOf, judge, rejected } from './permission.ts';
import type { Listener } from './process.ts';
import { eventOf } from './updates.ts';

/** Calls of one turn that are remembered; what an agent asks about is always among the last. */
const callsMax = 1000;

export interface TurnParts {
  readonly agent: Agent;
  readonly tools: readonly string[];
  /** Whether there is somebody to ask. */
  readonly asksUser: boolean;
  readonly holdsLease: () => boolean;
  readonly queue: EventQueue;
  readonly model: () => string | undefined;
  readonly redact: (text: string) => string;
  /** The agent did something that it may not. */
  readonly onBreach: (failure: LegFailure) => void;
}

/** What the agent says and asks between a prompt and its end. */
export class Turn implements Listener {
  readonly #parts: TurnParts;
  readonly #calls = new BoundedMap<string, ToolCallUpdate>(callsMax);
  readonly #asked = new Set<string>();
  readonly #open = new OpenRequests();
  #requests = 0;
  #isCancelled = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  get queue(): EventQueue {
    return this.#parts.queue;
  }

  update(update: SessionUpdate): void {
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      this.#onCall(this.#remember(update));
    }
    const event = eventOf(update, this.#parts.model());
    if (event !== undefined) this.#tell(event);
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const call = this.#remember(request.toolCall);
    this.#asked.add(call.toolCallId);
    if (!this.#mayAct) return { outcome: { outcome: 'cancelled' } };
    const judgement = judge(this.#parts, call);
    if (judgement.kind === 'allow') return { outcome: allowed(request.options, 'settings') };
    if (judgement.kind === 'refuse') {
      this.#tellRefusal(call, judgement.reason);
      return { outcome: rejected(request.options) };
    }
    const { toolName } = judgement;
    const toolInput = redactedJson(judgement.toolInput, this.#parts.redact);
    const ref = `permission-${(this.#requests += 1)}`;
    const answered = this.#open.waitFor(ref);
    this.queue.push({ type: 'permission_request', ref, toolName, toolInput });
    const answer = await answered;
    if (answer === undefined || !this.#mayAct) return { outcome: { outcome: 'cancelled' } };
    if (isAllowOf(answer, toolInput)) return { outcome: allowed(request.options, 'person') };
    if (answer.kind === 'permission' && answer.allow) {
      this.#tellRefusal(
        call,
        'ACP agents cannot be given another input than the one they asked for',
      );
    }
    return { outcome: rejected(request.options) };
  }

  /** A run that was given to another server begins nothing here any more. */
  get #mayAct(): boolean {
    return !this.#isCancelled && this.#parts.holdsLease();
  }

  async elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
    const questions = this.#parts.asksUser ? questionsOf(request) : undefined;
    if (questions === undefined || this.#isCancelled) return { action: 'cancel' };
    const number = (this.#requests += 1);
    const answered = questions.map((question, index) => {
      const ref = `question-${number}.${index + 1}`;
      const answer = this.#open.waitFor(ref);
      this.#tell(questionEvent(question, ref));
      return answer;
    });
    const answers = await Promise.all(answered);
    const given = answers.filter((answer) => answer !== undefined);
    if (given.length < answers.length) return { action: 'cancel' };
    return responseTo(questions, given);
  }

  /** True when the agent was waiting for exactly this. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** Nobody will answer any more: not what is open, nor what is asked from now on. */
  cancel(): void {
    this.#isCancelled = true;
    this.#open.cancel();
  }

  /** Later messages about a call say only what is new. */
  #remember(message: ToolCallUpdate): ToolCallUpdate {
    const news = Object.entries(message).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    const call: ToolCallUpdate = {
      ...this.#calls.get(message.toolCallId),
      ...Object.fromEntries(news),
      toolCallId: message.toolCallId,
    };
    this.#calls.set(call.toolCallId, call);
    return call;
  }

  /**
   * Whether an agent asks at all is its own doing: its mode, its settings, its list of harmless commands. One
   * that did what needs a person's leave without asking for it, or what it has no tool for, is not let go on.
   * `think` does nothing.
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

  #tellRefusal({ toolCallId, kind, title }: ToolCallUpdate, reason: string): void {
    const data = { tool_call_id: toolCallId, kind: kind ?? 'other', title: title ?? '', reason };
    this.#tell({ type: 'custom', name: 'tool_refused', data });
  }

  #tell(event: HarnessEvent): void {
    this.queue.push(redactedEvent(event, this.#parts.redact));
  }
}
