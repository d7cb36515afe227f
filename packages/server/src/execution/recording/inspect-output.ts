import { type Json, measureJson } from '../../domain/json.ts';
import { isPlain } from '../../domain/run/plain-text.ts';
import type { CallIntent } from '../../domain/run/tool-call.ts';
import { type LegItem, isDraft } from './raise-interactions.ts';

/** Refs of requests and of calls. They are part of an index, whose rows PostgreSQL limits to 2,704 bytes. */
const refMaxCharacters = 500;
const nameMaxCharacters = 200;
const questionMaxCharacters = 100_000;
const optionsMax = 1000;
const optionMaxCharacters = 10_000;
/** Everything that one event, checkpoint or call may have; no framework takes a longer message from its agent. */
const charactersMax = 10 * 1024 * 1024;
/** Many parsers of clients take no more levels than this. */
const depthMax = 128;

/** The size of something that an agent emitted, or why it cannot be recorded, for the author of the agent. */
export type Inspection =
  | { readonly ok: true; readonly characters: number }
  | { readonly ok: false; readonly problem: string };

/**
 * Checks one item of a leg's output before it is recorded. This file is the one place where the texts that an agent, a
 * model or the server of a tool chose are checked, for every framework. Names and refs become columns of text and are
 * shown as they are, so they must be plain (D-270); everything else is stored as JSON, which escapes what is not.
 */
export function inspectItem(item: LegItem): Inspection {
  if (isDraft(item)) {
    const { type, data } = item;
    if (type === 'message_delta') return inspected(undefined, 'message_delta', data);
    return inspected(nameProblem('the name of an event', type), `the data of ${type}`, data);
  }
  const { type } = item;
  const problem = refProblem(`${type}.ref`, item.ref);
  if (type === 'permission_request') {
    const misnamed = nameProblem(`${type}.tool_name`, item.toolName);
    return inspected(problem ?? misnamed, `${type}.tool_input`, item.toolInput);
  }
  if (type === 'wait') {
    const wrong = problem ?? nameProblem(`${type}.name`, item.name);
    return item.kind === 'run'
      ? inspected(wrong, `${type}.input`, item.input)
      : inspected(wrong, type, item.name);
  }
  const { question, options = [] } = item;
  const tooLong = longProblem(`${type}.question`, question, questionMaxCharacters);
  const wrong = problem ?? tooLong ?? optionsProblem(`${type}.options`, options);
  return inspected(wrong, type, [question, ...options]);
}

export function inspectCall(call: Pick<CallIntent, 'ref' | 'toolName' | 'input'>): Inspection {
  const problem =
    refProblem('the call_id of a tool call', call.ref) ??
    nameProblem('the tool_name of a tool call', call.toolName);
  return inspected(problem, 'the tool_input of a tool call', call.input);
}

export function inspectCallRef(ref: string): Inspection {
  const where = 'the call_id of a tool call';
  return inspected(refProblem(where, ref), where, ref);
}

export function inspectState(state: Json): Inspection {
  return inspected(undefined, 'the state of a checkpoint', state);
}

function inspected(problem: string | undefined, where: string, value: Json): Inspection {
  if (problem !== undefined) return { ok: false, problem };
  const size = measureJson(value, { charactersMax, depthMax });
  if (typeof size === 'number') return { ok: true, characters: size };
  const bound = size === 'too long' ? `${charactersMax} characters` : `${depthMax} levels`;
  return { ok: false, problem: `${where} has more than ${bound}` };
}

function refProblem(where: string, ref: string): string | undefined {
  return longProblem(where, ref, refMaxCharacters) ?? plainProblem(where, ref);
}

function nameProblem(where: string, name: string): string | undefined {
  return longProblem(where, name, nameMaxCharacters) ?? plainProblem(where, name);
}

type Options = readonly { readonly label: string; readonly description?: string }[];

function optionsProblem(where: string, options: Options): string | undefined {
  if (options.length > optionsMax) return `${where} has more than ${optionsMax} entries`;
  for (const { label, description = '' } of options) {
    const problem =
      longProblem(`${where}.label`, label, optionMaxCharacters) ??
      longProblem(`${where}.description`, description, optionMaxCharacters);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function longProblem(where: string, text: string, max: number): string | undefined {
  return text.length > max ? `${where} is longer than ${max} characters` : undefined;
}

function plainProblem(where: string, text: string): string | undefined {
  return isPlain(text) ? undefined : `${where} has a control character or half of a character`;
}
