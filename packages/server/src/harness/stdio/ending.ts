import type { ProcessSettings } from '../../agents/process-settings.ts';
import type { LegEnd } from '../../ports/harness.ts';
import type { ProcessExit } from '../../ports/sandbox.ts';

const linesShown = 8;
const charactersShown = 2000;

/** The end of a leg whose program exited without an `end` event. */
export function endOfProgram(
  exit: ProcessExit,
  { command, limits }: ProcessSettings,
  { errors, hasAsked }: { readonly errors: string; readonly hasAsked: boolean },
): LegEnd {
  if (!exit.started) {
    const message = "The sandbox for the agent's program could not be set up.";
    return { type: 'end', outcome: 'error', code: 'sandbox_unavailable', message };
  }
  // A program that asked and exited is parked: the leg that gets the answers continues.
  if (exit.code === 0) return { type: 'end', outcome: hasAsked ? 'waiting' : 'completed' };
  if (exit.outOfMemory) {
    return agentError(
      `The program needed more than its ${limits.memoryMb} MB of memory (limits.memory_mb).`,
    );
  }
  const [program = ''] = command;
  if (exit.code === 127) {
    const where = program.startsWith('./') ? "in the agent's folder" : 'in the sandbox';
    return agentError(`The program ${program} was not found ${where}.${shownErrors(errors)}`);
  }
  if (exit.code === 126) {
    return agentError(`The program ${program} is not executable.${shownErrors(errors)}`);
  }
  return agentError(`The program ended with code ${exit.code}.${shownErrors(errors)}`);
}

export function agentError(message: string): LegEnd {
  return { type: 'end', outcome: 'error', code: 'agent_error', message };
}

/** The end of what a program wrote to standard error. */
export function shownErrors(errors: string): string {
  const lines = errors.trim().split('\n').slice(-linesShown).join('\n').slice(-charactersShown);
  return lines === '' ? '' : ` Its error output:\n${lines.toWellFormed()}`;
}
