import type { Leg } from './leg.ts';
import type { Answer, Touches } from './lines.ts';
import type { Json } from './json.ts';
import { digestOf, refOfRequest } from './names.ts';

type PermissionAnswer = Extract<Answer, { kind: 'permission' }>;

export type Permission =
  | { readonly allowed: true; readonly input: Json }
  | { readonly allowed: false; readonly reason: string | null };

/** A tool call of a model. Its id is part of the model's stored answer, so it is the same in every leg. */
export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly repeatable?: boolean;
  readonly touches?: Touches;
  /** The input that a person has allowed already, where it differs from the input as the tool has read it. */
  readonly approvedInput?: Json | undefined;
}

/** A request to a person to allow a step. */
export interface PermissionRequest {
  readonly ref: string;
  readonly tool: string;
  readonly input: Json;
}

type PermittedCall = Pick<PermissionRequest, 'ref' | 'input'>;

/**
 * Requests for permission and their answers. A request has the ref of its step. One permission is for one execution
 * (D-361), and another call of this tool and input may have used it up: the step is asked about once more then, under a
 * ref of its own (D-766).
 */
export class Permissions {
  readonly #leg: Leg;
  /** Calls that a person has allowed and that have not begun yet, by scope, tool and id. */
  readonly #permitted = new Map<string, PermittedCall>();

  constructor(leg: Leg) {
    this.#leg = leg;
  }

  /** Asks a person, and resolves with the answer in the leg that has it. */
  async ask(request: PermissionRequest): Promise<Permission> {
    const answer = this.#answerTo(request.ref);
    if (answer === undefined) return this.raise(request);
    await this.#leg.deliverLast(`${request.ref} answer`, request.ref);
    if (!answer.allow) return { allowed: false, reason: answer.reason };
    return { allowed: true, input: answer.input };
  }

  /** The last answer about a step. */
  answerFor(step: string): PermissionAnswer | undefined {
    const count = this.#countOf(step);
    return count === 0 ? undefined : this.#answerTo(refOfRequest(step, count));
  }

  /** The ref of a request about a step that no answer allows now. */
  refOfNext(step: string): string {
    return refOfRequest(step, this.#countOf(step) + 1);
  }

  /** Never resolves in this leg (L9). */
  raise({ ref, tool, input }: PermissionRequest): Promise<never> {
    return this.#leg.raise({ type: 'permission_request', ref, tool_name: tool, tool_input: input });
  }

  /** Keeps a permission for the call, which comes later. */
  keep(scope: string, call: ToolCall, permitted: PermittedCall): void {
    this.#permitted.set(keyOf(scope, call), permitted);
  }

  take(scope: string, call: ToolCall): PermittedCall | undefined {
    const key = keyOf(scope, call);
    const permitted = this.#permitted.get(key);
    this.#permitted.delete(key);
    return permitted;
  }

  #answerTo(ref: string): PermissionAnswer | undefined {
    const answer = this.#leg.replay.answers.get(ref);
    return answer?.kind === 'permission' ? answer : undefined;
  }

  #countOf(step: string): number {
    let count = 0;
    while (this.#answerTo(refOfRequest(step, count + 1)) !== undefined) count += 1;
    return count;
  }
}

export function nameOfCall({ id, tool, input }: ToolCall): string {
  return `${tool} ${digestOf(id, tool, input)}`;
}

function keyOf(scope: string, { tool, id }: ToolCall): string {
  return JSON.stringify([scope, tool, id]);
}
