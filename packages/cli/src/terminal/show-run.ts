import type { Json, RunEvent } from '@convoke/sdk';
import { RunText, interruptedText } from '@convoke/faces';
import { printable } from '@convoke/faces/printable';
import { endLine, forOutput, isMidLine, jsonText, print, remark, write } from './output.ts';
import { printOutput } from './run-output.ts';
import { plainTime } from './times.ts';
import { armSpinner } from './spinner.ts';

/** Shows the events of one run. */
export interface ShownRun {
  show(event: RunEvent): void;
  /** Called once, when no more events are shown: the run has ended, or it is left. */
  close(): void;
}

/** Prints every event as a line of JSON. */
export function showJson(): ShownRun {
  return { show: (event) => print(jsonText(event)), close: () => {} };
}

/**
 * Writes the answer to standard output and everything else to standard error. A terminal, and a pipe with `--stream`,
 * gets the answer as it comes. Any other pipe gets it at the end, because output cannot be taken back (D-87).
 */
export function showRun({ stream }: { readonly stream: boolean }): ShownRun {
  const tools = new Map<string, string>();
  const answer = new RunText();
  let output: Json | undefined;
  const isTerminal = process.stdout.isTTY;
  const isHeldBack = !isTerminal && !stream;
  return {
    show(event) {
      answer.take(event);
      if (event.type === 'message_delta') {
        // A terminal gets a remark instead of the server's own words about an interruption.
        const isShown = !isHeldBack && !(isTerminal && event.data.text === interruptedText);
        if (isShown) write(forOutput(event.data.text));
        return;
      }
      if (event.type === 'run_output') {
        output = event.data.output;
        return;
      }
      if (event.type === 'permission_request') {
        tools.set(event.data.interaction_key, event.data.tool_name);
      }
      const isAsked = event.type === 'permission_request' || event.type === 'user_question';
      const remarked =
        event.type === 'run_interrupted' ? interruption(event.data) : remarkOn(event, tools);
      if (remarked !== undefined || isAsked || event.type === 'run_completed') endLine();
      if (remarked !== undefined) remark(printable(remarked), 'dim');
      if (event.type === 'run_interrupted' && isTerminal) write(forOutput(lastLineOf(answer.text)));
      if (!isMidLine() && !isAsked) armSpinner(workOf(event));
    },
    close() {
      if (isHeldBack) write(answer.text);
      endLine();
      if (output !== undefined) printOutput(output);
    },
  };
}

/** Every framework names the event of a tool that starts `<framework>.tool_call`. */
function workOf({ type, data }: RunEvent): string {
  const name = type.endsWith('.tool_call') && 'name' in data ? data.name : undefined;
  return typeof name === 'string' ? printable(`running ${name}`) : 'the agent is working';
}

/** The end of a longer line is enough to see where the answer continues. */
const lastLineMax = 400;

/** The unfinished line of the text, which is shown again below the remark. */
function lastLineOf(text: string): string {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  return line.length > lastLineMax ? `…${line.slice(-lastLineMax)}` : line;
}

type InterruptedData = Extract<RunEvent, { type: 'run_interrupted' }>['data'];

function interruption({ calls_in_doubt = 0 }: InterruptedData): string {
  if (calls_in_doubt > 0) return '(interrupted; the last action may have completed)';
  return interruptedText.trim();
}

/** `tools` has the name of the tool of each permission request. */
function remarkOn(event: RunEvent, tools: ReadonlyMap<string, string>): string | undefined {
  if (event.type === 'run_cancelled') return 'cancelled';
  if (event.type === 'error') return `failed: ${event.data.message}`;
  if (event.type === 'permission_resolved') {
    const { decision, interaction_key } = event.data;
    const tool = tools.get(interaction_key) ?? 'the tool';
    return `${tool}: ${decision === 'allow' ? 'allowed' : 'denied'}`;
  }
  if (event.type === 'call_decided') return decisionOf(event.data);
  if (event.type === 'wait_started') return `(${waitOf(event.data)})`;
  return standstillOf(event);
}

type StartedWait = Extract<RunEvent, { type: 'wait_started' }>['data'];

/** Describes a wait of the run that no person ends, with its latest end. */
export function waitOf({
  kind,
  name,
  until,
  child_run_id: called,
}: Omit<StartedWait, 'wait_id'>): string {
  if (kind === 'run') {
    return called === undefined ? `calls ${name}` : `calls ${name}, ${called}${endAt(until)}`;
  }
  if (kind === 'signal') return `waits for the message ${name}${endAt(until)}`;
  return `sleeping, ${name}${endAt(until)}`;
}

function endAt(until: string | undefined): string {
  return until === undefined ? '' : `, until ${plainTime(until)}`;
}

type DecidedData = Extract<RunEvent, { type: 'call_decided' }>['data'];

const decided = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;

/** Describes the decision of rules about a call, and names the rules. */
export function decisionOf({ tool_name, effect, by, rules, observed }: DecidedData): string {
  const names = rules.map(({ name, source }) => `${name} of the ${source}`).join(' and ');
  const what = observed === true ? `would be ${decided[effect]}` : decided[effect];
  return `${tool_name}: ${what} by ${by === 'memory' ? 'an earlier permission' : `the rule ${names}`}`;
}

/** The words about a program that does not yield (D-479), whose author waits for an answer that may never come. */
export function standstillOf({ type, data }: RunEvent): string | undefined {
  const message = type === 'code.not_yielding' && 'message' in data ? data.message : undefined;
  return typeof message === 'string' ? message : undefined;
}
