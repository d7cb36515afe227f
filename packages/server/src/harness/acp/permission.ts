import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionOutcome,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { type Agent, matchesGlob, needsApproval } from '../../domain/agent.ts';
import { type Json, type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { Answer } from '../../ports/harness.ts';
import { jsonOf } from './json-of.ts';

/** What is shown to a person is never shortened: what would have to be is refused. */
const inputCharactersMax = 256 * 1024;

/** What becomes of a call that the agent asks about. */
export type Judgement =
  | { readonly kind: 'allow' }
  | { readonly kind: 'refuse'; readonly reason: string }
  | { readonly kind: 'ask'; readonly toolName: string; readonly toolInput: JsonObject };

/** The agent's own rules do not matter here: what stands in its `agent.yaml` does. */
export function judge(
  { agent, tools }: { readonly agent: Agent; readonly tools: readonly string[] },
  call: ToolCallUpdate,
): Judgement {
  const toolName = call.kind ?? 'other';
  if (!tools.some((glob) => matchesGlob(glob, toolName))) {
    return { kind: 'refuse', reason: `${toolName} is not among the agent's tools` };
  }
  if (!needsApproval(agent, toolName)) return { kind: 'allow' };
  const toolInput = inputOf(call);
  return JSON.stringify(toolInput).length > inputCharactersMax
    ? { kind: 'refuse', reason: 'what it would do is too long to be shown' }
    : { kind: 'ask', toolName, toolInput };
}

/**
 * Agents choose their own ids for the options, so that only an option's kind tells what it means. A person's
 * allow is for one call: where an agent offers nothing but to stop asking, it gets no leave.
 */
export function allowed(
  options: readonly PermissionOption[],
  by: 'person' | 'settings',
): RequestPermissionOutcome {
  const always = by === 'settings' ? choose(options, 'allow_always') : undefined;
  return choose(options, 'allow_once') ?? always ?? rejected(options);
}

export function rejected(options: readonly PermissionOption[]): RequestPermissionOutcome {
  return (
    choose(options, 'reject_once') ?? choose(options, 'reject_always') ?? { outcome: 'cancelled' }
  );
}

/** D-39: ACP cannot hand back another input, so an allow counts only for the one that was shown. */
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

/** Some agents give the tool's input, some only a title and what would change: a person sees all there is. */
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
