import { z } from 'zod';
import { matchesGlob } from '../../domain/rules/glob.ts';
import { type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { KnownCall } from '../../domain/run/tool-call.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { OpenRequests } from '../open-requests.ts';
import type { GrantedCalls, ParkedRequest, SettledRequests } from '../parked-requests.ts';
import { parsedObject } from '../parsed-json.ts';
import {
  type FinalDecision,
  type ToolCall,
  decisionOf,
  interactionEvents,
  refsOf,
} from './approvals.ts';
import type { CallGate } from './call-gate.ts';
import type { MessageCalls } from './message-calls.ts';
import { askToolName, askingOf } from './questions.ts';
import { type ClaudeSettings, toolNameOf } from './settings.ts';
import type { Deferred } from './state.ts';
import { outputToolName } from './structured-output.ts';
import { parkedBy } from './unfinished.ts';

const hookInput = z.object({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: parsedObject,
  agent_id: z.string().nullish(),
});
type HookInput = z.infer<typeof hookInput>;

export interface PermissionHookParts {
  readonly settings: ClaudeSettings;
  /** Whether the agent has an `output_schema`. */
  readonly givesOutput: boolean;
  readonly calls: MessageCalls;
  readonly gate: CallGate;
  /** The call that an earlier leg deferred; it comes first when the session resumes. */
  readonly deferred: Deferred | undefined;
  /** What is known of the run; absent when it starts, and the deferred call is of an earlier run. */
  readonly settled: SettledRequests | undefined;
  readonly granted: GrantedCalls;
  /** Calls of which Claude may not know that it made them. Each is refused once, with what is known of it. */
  readonly made: readonly KnownCall[];
  /** Whether the server is about to stop. */
  readonly mustYield: () => boolean;
  /** Called before a person is asked while Claude's process waits. */
  readonly onAsk: (requests: readonly ParkedRequest[]) => void;
  /** Called when Claude's process has got the answers. */
  readonly onAnswered: (refs: readonly string[]) => void;
  readonly emit: (event: HarnessEvent) => void;
  readonly holdsLease: () => boolean;
}

type Decision =
  | FinalDecision
  /** The turn ends, and a later leg resumes with this call. */
  | { readonly kind: 'defer'; readonly isHandedOver: boolean }
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
  /** What calls that have begun were decided with, by their ids. */
  readonly #intended = new Map<string, JsonObject>();
  readonly #open = new OpenRequests();
  #made: readonly KnownCall[];
  #asking = 0;
  #closedBecause: string | undefined;
  #hasRefused = false;

  constructor(parts: PermissionHookParts) {
    this.#parts = parts;
    this.#made = parts.made;
  }

  /** Whether the hook was called for this tool call. */
  hasDecided(id: string): boolean {
    return this.#decisions.has(id);
  }

  /** Whether the call was deferred because the server is about to stop. */
  hasHandedOver(id: string): boolean {
    const decision = this.#decisions.get(id);
    return decision?.kind === 'defer' && decision.isHandedOver;
  }

  /** Whether Claude's process waits for a person. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  readonly preToolUse = async (given: unknown): Promise<object> => {
    const input = hookInput.safeParse(given).data;
    const decision: Decision =
      input === undefined
        ? { kind: 'deny', reason: 'The call was not understood.' }
        : await this.#begunOrAsked(input);
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
    if (this.#closedBecause !== undefined) {
      return denial(this.#refuseAll(this.#closedBecause).reason, true);
    }
    const call = { id: toolUseID, name: toolName, input };
    if (this.#isOutput(call)) return { behavior: 'allow', updatedInput: input };
    const final = await this.#finalDecision(call);
    const begun = final && (await this.#begun(call, final));
    const decision =
      begun === undefined || begun.kind === 'ask' ? await this.#askAndBegin(call) : begun;
    if (decision === undefined) return denial(this.#closedBecause ?? '', true);
    if (!this.#parts.holdsLease()) return denial('The run was cancelled.', true);
    return decision.kind === 'allow'
      ? { behavior: 'allow', updatedInput: this.#intended.get(toolUseID) ?? input }
      : denial(decision.kind === 'deny' ? decision.reason : '', false);
  };

  #isOutput({ name }: ToolCall): boolean {
    return this.#parts.givesOutput && name === outputToolName;
  }

  /** A rule may have changed since the decision, so a call may have to be asked about although it was allowed. */
  async #begunOrAsked(given: HookInput): Promise<Decision> {
    const call = callOf(given);
    if (this.#isOutput(call)) return { kind: 'allow' };
    const decision = await this.#begun(call, await this.#decide(given));
    return decision.kind === 'ask' ? this.#asked(given, { isHandedOver: false }) : decision;
  }

  /** A subagent's call cannot be deferred: deferring ends the turn of the main agent. */
  async #asked(
    { agent_id: agentId, tool_use_id: id }: HookInput,
    handOver: { readonly isHandedOver: boolean },
  ): Promise<Extract<Decision, { kind: 'defer' | 'ask' }>> {
    const isAlone = typeof agentId !== 'string' && (await this.#parts.calls.isOnlyCall(id));
    return isAlone ? { kind: 'defer', ...handOver } : { kind: 'ask' };
  }

  /**
   * Writes the intent of a call that may be made, or its denial by a rule: a run whose lease another server holds must
   * start nothing here.
   */
  async #begun<Kind extends Decision>(
    call: ToolCall,
    decision: Kind,
  ): Promise<Kind | Denial | { readonly kind: 'ask' }> {
    if (decision.kind !== 'allow') return decision;
    const { gate, holdsLease } = this.#parts;
    const intended = { ...call, input: decision.input ?? call.input };
    const begun = holdsLease() ? await gate.begin(intended, decision.ref) : undefined;
    if (begun?.kind === 'denied') return { kind: 'deny', reason: begun.reason };
    if (begun?.kind === 'ask') return { kind: 'ask' };
    if (begun?.kind === 'begun' && holdsLease()) {
      // A hook in the session folder may change it after ours has decided.
      if (!this.#intended.has(call.id)) this.#intended.set(call.id, intended.input);
      return decision;
    }
    return { kind: 'deny', reason: 'Another server executes the run now.' };
  }

  /** False when no open request has this `ref`. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** Claude has a new session, and knows of none of these calls. */
  expectRepetitions(made: readonly KnownCall[]): void {
    this.#made = made;
  }

  /** Denies every call from now on. */
  close(reason = 'The run was cancelled.'): void {
    this.#closedBecause = reason;
    this.#open.cancel();
  }

  /** Whether a call was denied because the hook is closed. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  #refuseAll(reason: string): Denial {
    this.#hasRefused = true;
    return { kind: 'deny', reason };
  }

  /** Decides a call that an earlier leg of this run deferred. `ask`: a person has to be asked about it now. */
  async decideDeferred(deferred: Deferred): Promise<Exclude<Decision, { kind: 'defer' }>> {
    const { settled } = this.#parts;
    const known = settled?.calls.get(deferred.id);
    const answers = refsOf(deferred).flatMap((ref) => settled?.answers.get(ref) ?? []);
    const isAnswered = answers.length === refsOf(deferred).length;
    const again = known?.state === 'again';
    if (known !== undefined && !again) return { kind: 'deny', reason: noteAbout(known) };
    if (isAnswered) return decisionOf(deferred, answers);
    if (again) return { kind: 'allow', input: deferred.input };
    if (settled === undefined) {
      return { kind: 'deny', reason: 'The run was cancelled before an answer came.' };
    }
    const refused = this.#refusal(deferred);
    if (refused !== undefined) return refused;
    // The agent may have changed since: what needs approval now is not made without it.
    const mayMake = deferred.isHandedOver === true && !(await this.#needsPerson(deferred));
    return mayMake ? { kind: 'allow', input: deferred.input } : { kind: 'ask' };
  }

  async #decide(given: HookInput): Promise<Decision> {
    const call = callOf(given);
    if (this.#closedBecause !== undefined) return this.#refuseAll(this.#closedBecause);
    const { deferred, granted, gate, mustYield } = this.#parts;
    if (call.id === deferred?.id) {
      const decision = await this.decideDeferred(deferred);
      return decision.kind === 'ask' ? { kind: 'defer', isHandedOver: false } : decision;
    }
    const refused = this.#refusal(call) ?? this.#refuseRepetition(call);
    if (refused !== undefined) return refused;
    const ref = granted.take(toolNameOf(call.name), gate.shown(call.input));
    if (ref !== undefined) return { kind: 'allow', ref };
    const needsPerson = await this.#needsPerson(call);
    if (!needsPerson && !mustYield()) return { kind: 'allow' };
    const asked = await this.#asked(given, { isHandedOver: !needsPerson });
    return needsPerson || asked.kind === 'defer' ? asked : { kind: 'allow' };
  }

  #refusal({ id, name, input }: ToolCall): Denial | undefined {
    const { settings } = this.#parts;
    if (name === askToolName) {
      if (!settings.asksUser) {
        return { kind: 'deny', reason: 'Questions are disabled for this agent.' };
      }
      const isClear = askingOf(id, input) !== undefined;
      return isClear ? undefined : { kind: 'deny', reason: 'The questions were not understood.' };
    }
    const toolName = toolNameOf(name);
    if (settings.tools.some((glob) => matchesGlob(glob, toolName))) return undefined;
    return { kind: 'deny', reason: `${toolName} is not among the agent's tools.` };
  }

  /** After a loss Claude may not remember a call that it made: it gets the result instead of making the call again. */
  #refuseRepetition({ name, input }: ToolCall): Denial | undefined {
    if (this.#made.length === 0) return undefined;
    const wanted = canonicalJson(this.#parts.gate.shown(input));
    const found = this.#made.find(
      (call) => call.toolName === toolNameOf(name) && canonicalJson(call.input) === wanted,
    );
    this.#made = this.#made.filter((call) => call !== found);
    return found === undefined ? undefined : { kind: 'deny', reason: noteAbout(found) };
  }

  /** For a deferred call the SDK may ask here before it calls the hook, for a changed input after it. */
  async #finalDecision(call: ToolCall): Promise<FinalDecision | undefined> {
    const { id } = call;
    const { deferred } = this.#parts;
    if (id === deferred?.id) {
      const decision = await this.decideDeferred(deferred);
      return decision.kind === 'ask' ? undefined : decision;
    }
    const decided = this.#decisions.get(id);
    if (decided?.kind === 'allow' || decided?.kind === 'deny') return decided;
    return (await this.#needsPerson(call)) ? undefined : { kind: 'allow' };
  }

  /** Undefined when the run is cancelled or handed over before all answers are there. */
  async #askAndBegin(call: ToolCall): Promise<FinalDecision | undefined> {
    const answers = await this.#ask(call);
    if (answers === undefined) return undefined;
    const begun = await this.#begun(call, decisionOf(call, answers));
    // The answer does not allow this input, or was used up.
    return begun.kind === 'ask' ? { kind: 'deny', reason: 'It was not allowed.' } : begun;
  }

  async #needsPerson(call: ToolCall): Promise<boolean> {
    return call.name === askToolName || (await this.#parts.gate.decide(call)).kind === 'ask';
  }

  /** `undefined` when the run is cancelled or handed over before all answers are there. */
  async #ask(call: ToolCall): Promise<readonly Answer[] | undefined> {
    const { gate, onAsk, onAnswered, emit } = this.#parts;
    const answered = refsOf(call).map((ref) => this.#open.waitFor(ref));
    this.#asking += 1;
    const events = interactionEvents(call);
    onAsk(parkedBy(call, gate.shown(call.input)));
    for (const event of events) emit(event);
    const answers = await Promise.all(answered);
    this.#asking -= 1;
    const given = answers.filter((answer) => answer !== undefined);
    if (given.length < answers.length || this.#closedBecause !== undefined) return undefined;
    onAnswered(refsOf(call));
    return given;
  }
}

type Denial = Extract<FinalDecision, { kind: 'deny' }>;

function callOf({ tool_use_id: id, tool_name: name, tool_input: input }: HookInput): ToolCall {
  return { id, name, input };
}

function noteAbout(known: KnownCall): string {
  if (known.state !== 'ended') return known.state === 'left' ? known.note : '';
  return `This was carried out before the server was restarted. Repeat it only if it has to be done twice. Its result was: ${known.output}`;
}

function denial(message: string, interrupt: boolean): object {
  return { behavior: 'deny', message, interrupt };
}
