import { current } from '../current.ts';
import type { Json } from '../json.ts';
import { digestOf } from '../names.ts';
import type { CallOptions, Called } from '../waits/calls.ts';

/** Options of a tool that calls another agent. */
export interface AgentToolOptions extends CallOptions {
  /** Description of the agent, for the model. */
  readonly description: string;
}

const toolNameMax = 64;

/** The name of the tool that calls an agent. Providers refuse names of more than 64 characters. */
export function nameOfAgentTool(agent: string): string {
  const name = `call_${agent}`;
  return name.length <= toolNameMax ? name : `${name.slice(0, 55)}_${digestOf(agent).slice(0, 8)}`;
}

export const agentToolSchema = {
  type: 'object',
  properties: {
    prompt: {
      type: 'string',
      description: 'The task for the agent, which does not see this conversation',
    },
  },
  required: ['prompt'],
  additionalProperties: false,
} as const;

export const sleepToolName = 'sleep';
export const sleepToolDescription = 'Waits for a time. You continue here when it is over.';
export const sleepToolSchema = {
  type: 'object',
  properties: {
    for: { type: 'string', description: 'How long: 90s, 15m, 2h, 3d or 2w, and 30d at most' },
    reason: { type: 'string', description: 'What you wait for, in a few words for people' },
  },
  required: ['for', 'reason'],
  additionalProperties: false,
} as const;

/** Tools whose calls are waits: none of them becomes a step (D-926). */
const waiting = new WeakSet<object>();

export function waitingTool<Tool extends object>(tool: Tool): Tool {
  waiting.add(tool);
  return tool;
}

export function isWaitingTool(tool: object): boolean {
  return waiting.has(tool);
}

/** The input with which a model calls an agent. */
export function inputOfCall(input: unknown): { readonly prompt: Json } {
  const { prompt = '' } = input as { readonly prompt?: Json };
  return { prompt };
}

/** The result of a called run for the model: its answer, or why it has none. */
export function textOfCalled(called: Called): string {
  if (!called.ok) return `${called.code}: ${called.message}`;
  if (called.output !== undefined) return JSON.stringify(called.output);
  return called.isCut === true ? `${called.text}\n(cut here)` : called.text;
}

/** The wait that a model asks for, or the tool's answer if that cannot be waited for. */
export type ModelSleep =
  | { readonly name: string; readonly duration: string }
  | { readonly refused: string };

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const sleepMaxSeconds = 30 * 86_400;
const nameMax = 90;

export function readSleep(input: unknown): ModelSleep {
  const { for: duration = '', reason = '' } = input as { for?: unknown; reason?: unknown };
  const [, count, unit = ''] = /^([1-9]\d{0,6})([smhdw])$/.exec(String(duration)) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? 0);
  if (count === undefined || seconds > sleepMaxSeconds) {
    return { refused: '"for" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.' };
  }
  return { name: nameOfSleep(String(reason)), duration: String(duration) };
}

/** A name of a wait is for people, and has no words of the model that refs need. */
function nameOfSleep(reason: string): string {
  const printable = reason.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').replaceAll(/ >(?= )/g, ' -');
  const short = Array.from(printable).slice(0, nameMax).join('').trim();
  return short.replace(/#(?=\d+$)/, 'no. ') || 'a time';
}

export const hasSlept = 'The time has passed.';

interface ModelCall {
  /** The id of the call in the model's answer. */
  readonly id: string;
  readonly input: unknown;
}

/** Has another agent work for the model of a framework that is replayed. Returns the tool's answer. */
export function callForModel(
  { id, input }: ModelCall,
  agent: string,
  given: AgentToolOptions,
): Promise<string> {
  const { description: _, ...options } = given;
  const { ctx, steps } = current();
  return steps.orEnd(() =>
    steps.scope(`${nameOfAgentTool(agent)} ${id}`, async () =>
      textOfCalled(await ctx.call(agent, inputOfCall(input), options)),
    ),
  );
}

/** Sleeps for the model of a framework that is replayed. */
export function sleepForModel({ id, input }: ModelCall): Promise<string> {
  const { ctx, steps } = current();
  return steps.orEnd(() =>
    steps.scope(`${sleepToolName} ${id}`, async () => {
      const wait = readSleep(input);
      if ('refused' in wait) return wait.refused;
      await ctx.sleep(wait.name, wait.duration);
      return hasSlept;
    }),
  );
}
