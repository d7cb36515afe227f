import { z } from 'zod';
import { type Agent, matchesGlob, needsApproval } from '../../domain/agent.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { OpenRequests } from '../open-requests.ts';
import {
  type FinalDecision,
  type ToolCall,
  decisionOf,
  interactionEvents,
  refsOf,
} from './approvals.ts';
import type { MessageCalls } from './message-calls.ts';
import { askToolName, askingOf } from './questions.ts';
import { type ClaudeSettings, toolNameOf } from './settings.ts';
import type { Deferred } from './state.ts';

const hookInput = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: z.record(z.string(), z.json()),
  agent_id: z.string().nullish(),
});

export interface PermissionHookParts {
  readonly agent: Agent;
  readonly settings: ClaudeSettings;
  readonly calls: MessageCalls;
  /** The call that an earlier leg deferred; it comes first when the session resumes. */
  readonly deferred: Deferred | undefined;
  /** Answers to the deferred call; absent when there will be none. */
  readonly answers: ReadonlyMap<string, Answer> | undefined;
  readonly emit: (event: HarnessEvent) => void;
  readonly holdsLease: () => boolean;
}

type Decision =
  | FinalDecision
  /** The turn ends, and a later leg resumes with this call. */
  | { readonly kind: 'defer' }
  /** The process waits for a person's answer. */
  | { readonly kind: 'ask' };

/**
 * Decides every tool call before it is made, in any mode of Claude. A call that needs a person is deferred if it is the
 * only one of its message: then no process runs while it waits. Several calls of one message wait in the process, one
 * after the other.
 */
export class PermissionHook {
  readonly #parts: PermissionHookParts;
  readonly #decisions = new Map<string, Decision>();
  readonly #open = new OpenRequests();
  #isClosed = false;

  constructor(parts: PermissionHookParts) {
    this.#parts = parts;
  }

  /** Whether the hook was called for this tool call. */
  hasDecided(id: string): boolean {
    return this.#decisions.has(id);
  }

  readonly preToolUse = async (given: unknown): Promise<object> => {
    const input = hookInput.safeParse(given).data;
    const decision: Decision =
      input === undefined
        ? { kind: 'deny', reason: 'The call was not understood.' }
        : this.#denyIfLeaseLost(await this.#decide(input));
    if (input !== undefined) this.#decisions.set(input.tool_use_id, decision);
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: decision.kind,
        ...(decision.kind === 'deny' && { permissionDecisionReason: decision.reason }),
        ...(decision.kind === 'allow' &&
          decision.input !== undefined && { updatedInput: decision.input }),
      },
    };
  };

  readonly canUseTool = async (
    toolName: string,
    input: JsonObject,
    { toolUseID }: { readonly toolUseID: string },
  ): Promise<object> => {
    if (this.#isClosed) return denial('The run was cancelled.', true);
    const call = { id: toolUseID, name: toolName, input };
    const decision = this.#finalDecision(call) ?? (await this.#askAndDecide(call));
    if (decision === undefined || !this.#parts.holdsLease())
      return denial('The run was cancelled.', true);
    return decision.kind === 'allow'
      ? { behavior: 'allow', updatedInput: decision.input ?? input }
      : denial(decision.reason, false);
  };

  /** Last check before a tool starts: a run whose lease another server holds must start nothing here. */
  #denyIfLeaseLost(decision: Decision): Decision {
    if (decision.kind !== 'allow' || this.#parts.holdsLease()) return decision;
    return { kind: 'deny', reason: 'Another server executes the run now.' };
  }

  /** False when no open request has this `ref`. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** Denies every call from now on. */
  close(): void {
    this.#isClosed = true;
    this.#open.cancel();
  }

  async #decide(call: z.infer<typeof hookInput>): Promise<Decision> {
    const { tool_use_id: id, tool_name: name, tool_input: input, agent_id } = call;
    if (this.#isClosed) return { kind: 'deny', reason: 'The run was cancelled.' };
    const { deferred, settings, calls } = this.#parts;
    if (id === deferred?.id) return this.#decideDeferred(deferred);
    if (name === askToolName && !settings.asksUser) {
      return { kind: 'deny', reason: 'Questions are disabled for this agent.' };
    }
    const toolName = toolNameOf(name);
    const isOffered = settings.tools.some((glob) => matchesGlob(glob, toolName));
    if (name !== askToolName && !isOffered) {
      return { kind: 'deny', reason: `${toolName} is not among the agent's tools.` };
    }
    if (!this.#needsPerson(name)) return { kind: 'allow' };
    if (name === askToolName && askingOf(id, input) === undefined) {
      return { kind: 'deny', reason: 'The questions were not understood.' };
    }
    // A subagent's call cannot be deferred: deferring ends the turn of the main agent.
    const isAlone = typeof agent_id !== 'string' && (await calls.isOnlyCall(id));
    return { kind: isAlone ? 'defer' : 'ask' };
  }

  /** For a deferred call the SDK may ask here before it calls the hook, for a changed input after it. */
  #finalDecision({ id, name }: ToolCall): FinalDecision | undefined {
    const { deferred } = this.#parts;
    if (id === deferred?.id) return this.#decideDeferred(deferred);
    const decided = this.#decisions.get(id);
    if (decided?.kind === 'allow' || decided?.kind === 'deny') return decided;
    return this.#needsPerson(name) ? undefined : { kind: 'allow' };
  }

  async #askAndDecide(call: ToolCall): Promise<FinalDecision | undefined> {
    const answers = await this.#ask(call);
    return answers === undefined ? undefined : decisionOf(call, answers);
  }

  #decideDeferred(deferred: Deferred): FinalDecision {
    const { answers } = this.#parts;
    const given = refsOf(deferred).flatMap((ref) => answers?.get(ref) ?? []);
    if (given.length < refsOf(deferred).length) {
      return { kind: 'deny', reason: 'The run was cancelled before an answer came.' };
    }
    return decisionOf(deferred, given);
  }

  #needsPerson(name: string): boolean {
    return name === askToolName || needsApproval(this.#parts.agent, toolNameOf(name));
  }

  /** `undefined` when the run is cancelled before all answers are there. */
  async #ask(call: ToolCall): Promise<readonly Answer[] | undefined> {
    const answered = refsOf(call).map((ref) => this.#open.waitFor(ref));
    for (const event of interactionEvents(call)) this.#parts.emit(event);
    const answers = await Promise.all(answered);
    const given = answers.filter((answer) => answer !== undefined);
    return given.length === answers.length ? given : undefined;
  }
}

function denial(message: string, interrupt: boolean): object {
  return { behavior: 'deny', message, interrupt };
}
