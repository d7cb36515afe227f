import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionOutcome,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { type Agent, needsApproval } from '../../domain/agent.ts';
import { matchesGlob } from '../../domain/rules/glob.ts';
import { type Json, type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { Answer } from '../../ports/harness.ts';
import { jsonOf } from './json-of.ts';

/** A longer input is refused: it would have to be shortened for the person who approves it. */
const inputCharactersMax = 256 * 1024;

export type PermissionDecision =
  | { readonly kind: 'refuse'; readonly reason: string }
  | {
      readonly kind: 'allow' | 'ask';
      readonly toolName: string;
      readonly toolInput: JsonObject;
    };

/** Decides a permission request by the agent's `agent.yaml`, not by the agent's own rules. */
export function decidePermission(
  { agent, tools }: { readonly agent: Agent; readonly tools: readonly string[] },
  call: ToolCallUpdate,
): PermissionDecision {
  const toolName = call.kind ?? 'other';
  if (!tools.some((glob) => matchesGlob(glob, toolName))) {
    return { kind: 'refuse', reason: `${toolName} is not among the agent's tools` };
  }
  const toolInput = inputOf(call);
  const isTooLong = JSON.stringify(toolInput).length > inputCharactersMax;
  if (!needsApproval(agent, toolName)) {
    const known = isTooLong ? { title: call.title ?? '', details_dropped: true } : toolInput;
    return { kind: 'allow', toolName, toolInput: known };
  }
  return isTooLong
    ? { kind: 'refuse', reason: 'its input is too long to be shown for approval' }
    : { kind: 'ask', toolName, toolInput };
}

/**
 * Selects an option that allows the call. Agents choose their own option ids, so only the kind of an option has a
 * meaning. A person allows one call only: if the agent offers nothing but `allow_always`, the call is rejected.
 */
export function allowOutcome(
  options: readonly PermissionOption[],
  by: 'person' | 'settings',
): RequestPermissionOutcome {
  const always = by === 'settings' ? choose(options, 'allow_always') : undefined;
  return choose(options, 'allow_once') ?? always ?? rejectOutcome(options);
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
