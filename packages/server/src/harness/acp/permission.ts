import { createHash } from 'node:crypto';
import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionOutcome,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { matchesAny } from '../../domain/rules/glob.ts';
import { keptPart } from '../../domain/rules/kept-part.ts';
import { type Json, type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { Answer } from '../../ports/harness.ts';
import { jsonOf } from './json-of.ts';

/** A longer input is refused: it would have to be shortened for the person who approves it. */
const inputCharactersMax = 256 * 1024;

export type ShownCall =
  | { readonly ok: false; readonly reason: string }
  | {
      readonly ok: true;
      readonly toolName: string;
      /** As people see it, and the rules. */
      readonly toolInput: JsonObject;
      /** Whether a person can be shown the whole input. */
      readonly canBeAsked: boolean;
    };

/** The call that an agent asks for, if it is one of its tools. */
export function shownCall(tools: readonly string[], call: ToolCallUpdate): ShownCall {
  const toolName = call.kind ?? 'other';
  if (!matchesAny(tools, toolName)) {
    return { ok: false, reason: `${toolName} is not among the agent's tools` };
  }
  const toolInput = inputOf(call);
  const canBeAsked = JSON.stringify(toolInput).length <= inputCharactersMax;
  return { ok: true, toolName, toolInput, canBeAsked };
}

/** For the ledger, which keeps no long input. Its digest tells one such call from another of the same title (D-905). */
export function keptInput({ canBeAsked }: { canBeAsked: boolean }, input: JsonObject): JsonObject {
  if (canBeAsked) return input;
  const sha256 = createHash('sha256').update(canonicalJson(input)).digest('hex');
  return keptPart(typeof input['title'] === 'string' ? input['title'] : '', sha256);
}

/**
 * Selects an option that allows the call; undefined if there is none. Agents choose their own option ids, so only the
 * kind of an option has a meaning. `once`: if the agent offers nothing but `allow_always`, it would never ask again.
 */
export function allowOutcome(
  options: readonly PermissionOption[],
  forHowLong: 'once' | 'always',
): RequestPermissionOutcome | undefined {
  const always = forHowLong === 'always' ? choose(options, 'allow_always') : undefined;
  return choose(options, 'allow_once') ?? always;
}

export function rejectOutcome(options: readonly PermissionOption[]): RequestPermissionOutcome {
  return (
    choose(options, 'reject_once') ?? choose(options, 'reject_always') ?? { outcome: 'cancelled' }
  );
}

/** D-39: ACP cannot return a changed input, so an approval counts only for the input that was shown. */
export function isAllowOf(answer: Answer, shown: Json): boolean {
  return (
    answer.kind === 'permission' &&
    answer.allow &&
    canonicalJson(answer.input) === canonicalJson(shown)
  );
}

function choose(
  options: readonly PermissionOption[],
  kind: PermissionOptionKind,
): RequestPermissionOutcome | undefined {
  const option = options.find((candidate) => candidate.kind === kind);
  return option === undefined ? undefined : { outcome: 'selected', optionId: option.optionId };
}

/** Some agents send the tool's input, some only a title and the changes: shows everything that was sent. */
function inputOf(call: ToolCallUpdate): JsonObject {
  const { title, name, rawInput, locations, content } = call;
  return {
    title: title ?? '',
    ...(typeof name === 'string' && { name }),
    ...(rawInput !== undefined && { input: jsonOf(rawInput) }),
    ...(locations !== undefined && locations !== null && { locations: jsonOf(locations) }),
    ...(content !== undefined && content !== null && { content: jsonOf(content) }),
  };
}
