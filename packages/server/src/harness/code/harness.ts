import { z } from 'zod';
import { extentOfJson } from '../../domain/json-bounds.ts';
import { type Json, isObject } from '../../domain/json.ts';
import type { Harness, HarnessEvent, LegEnd } from '../../ports/harness.ts';
import { LazyLeg } from '../lazy-leg.ts';
import { problemOf } from '../message-bounds.ts';
import { parsedJson } from '../parsed-json.ts';
import { shownValue } from '../shown-value.ts';
import { CodeProcesses } from './processes.ts';
import { CompileCaches } from './compile-cache.ts';
import { cachedLaunchCommand } from './launch-command.ts';
import { shownErrors } from '../stdio/ending.ts';
import type { StartedProgram, StdioParts } from '../stdio/leg.ts';
import type { CallMessage } from '../stdio/protocol.ts';
import { type CodeSettings, readCode } from './settings.ts';

/** A recovery point has the state of the session and the progress of the run, 4 MiB each, and maybe a result. */
const lineBytesMax = 10 * 1024 * 1024;

/**
 * Agents that are one function, which a kit (`packages/agent`, `packages/agent-python`) calls in a sandboxed process
 * (D-160). Every effect passes the ledger, and every leg calls the function from its first line, so a run survives the
 * loss of its worker.
 */
export function codeHarness(parts: StdioParts): Harness<CodeSettings> {
  const processes = new CodeProcesses(parts);
  const caches = new CompileCaches(parts.sandbox);
  return {
    framework: 'code',
    reportsCost: true,
    runsPrograms: true,
    output: 'native',
    afterLoss: 'repeat',
    replays: true,
    callsAgents: true,
    read: readCode,
    prepare: async (agent) => {
      const { prepareCode } = await import('./prepare.ts');
      return prepareCode({ ...parts, caches }, agent);
    },
    start: (input, context) => {
      const { settings } = context;
      const started = { input, context };
      const isKept = settings.keepSeconds > 0;
      const program: StartedProgram = {
        ...cachedLaunchCommand(
          settings,
          isKept ? ['--serve'] : [],
          caches.of(context.agent.folder),
        ),
        ...(isKept && { keeper: processes.keeper(settings.keepSeconds * 1000) }),
        lineBytesMax,
        endsByExit: false,
        eventOf: callEvents(),
        asksByCallId: true,
        watched: settings.entry,
        endWith,
      };
      return new LazyLeg(
        import('../stdio/leg.ts').then(({ StdioLeg }) => new StdioLeg(parts, started, program)),
      );
    },
    kept: () => processes.idle(),
    release: (sessionId) => processes.release(sessionId),
  };
}

/** The events `code.tool_call` and `code.tool_result` of a leg's calls, as other frameworks have them. */
function callEvents(): (message: CallMessage) => HarnessEvent {
  const names = new Map<string, string>();
  return (message) => {
    if (message.type === 'call_begin') {
      const { ref, toolName, input } = message.call;
      names.set(ref, toolName);
      const data = { tool_call_id: ref, name: toolName, input: shownValue(input) };
      return { type: 'custom', name: 'tool_call', data };
    }
    const { ref, result } = message;
    const data = { tool_call_id: ref, name: names.get(ref) ?? ref, ok: result.ok };
    names.delete(ref);
    const output = shownOutput(result.output);
    return { type: 'custom', name: 'tool_result', data: { ...data, output } };
  };
}

/** The part of a stored result that people see. */
const storedResult = z.object({
  value: parsedJson.optional(),
  error: z.object({ message: z.string() }).optional(),
});

function shownOutput(text: string): Json {
  // Only its beginning would be shown.
  if (problemOf(extentOfJson(text)) !== undefined) return shownValue(text);
  const { value = null, error } = storedResult.safeParse(jsonOf(text)).data ?? {};
  return shownValue(error?.message ?? returnedValue(value));
}

/** An adapter keeps a mark with the value of a tool that returned, rather than asked. */
function returnedValue(value: Json): Json {
  if (!isObject(value) || value['convoke'] !== 'returned') return value;
  const { convoke: _, value: returned = null, ...more } = value;
  return Object.keys(more).length === 0 ? returned : value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Adds the last lines of standard error to an error of the function. */
function endWith(end: LegEnd, errors: string): LegEnd {
  if (end.outcome !== 'error' || end.code !== 'agent_error') return end;
  const shown = shownErrors(errors);
  const stop = shown === '' || /[.!?]$/.test(end.message) ? '' : '.';
  return { ...end, message: `${end.message}${stop}${shown}` };
}
