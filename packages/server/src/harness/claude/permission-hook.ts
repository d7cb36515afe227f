import { z } from 'zod';
import { OpenRequests } from '../open-requests.ts';
import { type Agent, matchesGlob, needsApproval } from '../../domain/agent.ts';
import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { answeredInput, askToolName, askingOf } from './questions.ts';
import { type ClaudeSettings, toolNameOf } from './settings.ts';
import type { Deferred } from './state.ts';
import type { TurnWatch } from './message-calls.ts';

const hookInput = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: z.record(z.string(), z.json()),
  agent_id: z.string().nullish(),
});

export interface GateParts {
  readonly agent: Agent;
  readonly settings: ClaudeSettings;
  readonly watch: TurnWatch;
  /** The call that an earlier leg put off, which comes first when the session goes on. */
  readonly deferred: Deferred | undefined;
  /** What people said to it; absent when nobody will say anything any more. */
  readonly answers: ReadonlyMap<string, Answer> | undefined;
  readonly tell: (event: HarnessEvent) => void;
  readonly holdsLease: () => boolean;
}

/** A call of a tool, in Claude's words. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

type Verdict =
  | { readonly decision: 'allow'; readonly input?: JsonObject }
  | { readonly decision: 'deny'; readonly reason: string }
  /** The turn ends here, and a later leg goes on with it. */
  | { readonly decision: 'defer' }
  /** The process waits for a person. */
  | { readonly decision: 'ask' };

type Settled = Extract<Verdict, { decision: 'allow' | 'deny' }>;

/**
 * Decides about every call before it is made, whatever mode Claude is in. A call that needs a person is put off where
 * it is the only one of its message: then nothing runs while the person thinks. Where there are several, they wait
 * in the process, one after the other.
 */
export class Gate {
  readonly #parts: GateParts;
  readonly #judged = new Map<string, Verdict>();
  readonly #open = new OpenRequests();
  #isClosed = false;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Whether a call that was made came through here. */
  hasJudged(id: string): boolean {
    return this.#judged.has(id);
  }

  readonly preToolUse = async (given: unknown): Promise<object> => {
    const input = hookInput.safeParse(given).data;
    const verdict: Verdict =
      input === undefined
        ? { decision: 'deny', reason: 'not understood' }
        : this.#unlessLost(await this.#judge(input));
    if (input !== undefined) this.#judged.set(input.tool_use_id, verdict);
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: verdict.decision,
        ...(verdict.decision === 'deny' && { permissionDecisionReason: verdict.reason }),
        ...(verdict.decision === 'allow' &&
          verdict.input !== undefined && { updatedInput: verdict.input }),
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
    const verdict = this.#known(call) ?? (await this.#askFor(call));
    if (verdict === undefined || !this.#parts.holdsLease())
      return denial('The run was cancelled.', true);
    return verdict.decision === 'allow'
      ? { behavior: 'allow', updatedInput: verdict.input ?? input }
      : denial(verdict.reason, false);
  };

  /** The last word before a tool begins: a run that was given to another server begins nothing here. */
  #unlessLost(verdict: Verdict): Verdict {
    if (verdict.decision !== 'allow' || this.#parts.holdsLease()) return verdict;
    return { decision: 'deny', reason: 'the run was given to another server' };
  }

  /** True when the process was waiting for exactly this. */
  answer(ref: string, answer: Answer): boolean {
    return this.#open.answer(ref, answer);
  }

  /** From now on everything is refused. */
  close(): void {
    this.#isClosed = true;
    this.#open.cancel();
  }

  async #judge(call: z.infer<typeof hookInput>): Promise<Verdict> {
    const { tool_use_id: id, tool_name: name, tool_input: input, agent_id } = call;
    if (this.#isClosed) return { decision: 'deny', reason: 'The run was cancelled.' };
    const { deferred, settings, watch } = this.#parts;
    if (id === deferred?.id) return this.#judgeDeferred(deferred);
    if (name === askToolName && !settings.asksUser) {
      return { decision: 'deny', reason: 'There is nobody to ask.' };
    }
    const toolName = toolNameOf(name);
    const isOffered = settings.tools.some((glob) => matchesGlob(glob, toolName));
    if (name !== askToolName && !isOffered) {
      return { decision: 'deny', reason: `${toolName} is not among the agent's tools.` };
    }
    if (!this.#needsPerson(name)) return { decision: 'allow' };
    if (name === askToolName && askingOf(id, input) === undefined) {
      return { decision: 'deny', reason: 'The questions were not understood.' };
    }
    // What a subagent wants to do belongs to a turn that is not ours to end.
    const isAlone = typeof agent_id !== 'string' && (await watch.isOnlyCall(id));
    return { decision: isAlone ? 'defer' : 'ask' };
  }

  /** A call that was put off may be asked about here before the hook is, and one that was changed after it. */
  #known({ id, name }: Call): Settled | undefined {
    const { deferred } = this.#parts;
    if (id === deferred?.id) return this.#judgeDeferred(deferred);
    const judged = this.#judged.get(id);
    if (judged?.decision === 'allow' || judged?.decision === 'deny') return judged;
    return this.#needsPerson(name) ? undefined : { decision: 'allow' };
  }

  async #askFor(call: Call): Promise<Settled | undefined> {
    const answers = await this.#ask(call);
    return answers === undefined ? undefined : verdictOf(call, answers);
  }

  #judgeDeferred(deferred: Deferred): Settled {
    const { answers } = this.#parts;
    const given = refsOf(deferred).flatMap((ref) => answers?.get(ref) ?? []);
    if (given.length < refsOf(deferred).length) {
      return { decision: 'deny', reason: 'Nobody answered: the run was cancelled.' };
    }
    return verdictOf(deferred, given);
  }

  #needsPerson(name: string): boolean {
    return name === askToolName || needsApproval(this.#parts.agent, toolNameOf(name));
  }

  /** `undefined` when the run is cancelled meanwhile. */
  async #ask(call: Call): Promise<readonly Answer[] | undefined> {
    const answered = refsOf(call).map((ref) => this.#open.waitFor(ref));
    for (const event of requestsFor(call)) this.#parts.tell(event);
    const answers = await Promise.all(answered);
    const given = answers.filter((answer) => answer !== undefined);
    return given.length === answers.length ? given : undefined;
  }
}

/** What a call that needs a person is told as. */
export function requestsFor(call: Call): readonly HarnessEvent[] {
  const { id, name, input } = call;
  if (name === askToolName) return askingOf(id, input)?.events ?? [];
  return [{ type: 'permission_request', ref: id, toolName: toolNameOf(name), toolInput: input }];
}

function refsOf({ id, name, input }: Call): readonly string[] {
  return name === askToolName ? (askingOf(id, input)?.refs ?? []) : [id];
}

function verdictOf(
  { name, input }: Pick<Call, 'name' | 'input'>,
  answers: readonly Answer[],
): Settled {
  if (name === askToolName) {
    const filled = answeredInput(input, answers);
    return filled === undefined
      ? { decision: 'deny', reason: 'The person would rather not answer.' }
      : { decision: 'allow', input: filled };
  }
  const [answer] = answers;
  if (answer?.kind !== 'permission' || !answer.allow) {
    const reason = answer?.kind === 'permission' && !answer.allow ? answer.reason : undefined;
    return { decision: 'deny', reason: reason ?? 'A person refused it.' };
  }
  // D-39: what is run is what was approved, and nothing else.
  return isInput(answer.input)
    ? { decision: 'allow', input: answer.input }
    : { decision: 'deny', reason: 'What was approved is no input of this tool.' };
}

function isInput(input: Json): input is JsonObject {
  return isObject(input);
}

function denial(message: string, interrupt: boolean): object {
  return { behavior: 'deny', message, interrupt };
}
