import type { RunOutcome } from '../domain/run/run.ts';
import type { LegEnd } from '../ports/harness.ts';

/** A longer message of an agent is shortened: its run must be able to end. */
const messageMaxCharacters = 100_000;

type Failure = Extract<RunOutcome, { status: 'failed' }>;

export function failed(code: Failure['code'], message: string): Failure {
  return { status: 'failed', code, message };
}

/** The failure of the server itself; its log has the cause. */
export const internalError = failed('internal_error', 'The server could not execute the run.');

export function agentGone(name: string): Failure {
  return failed('agent_error', `The agent ${name} is no longer available on this server.`);
}

/** How an agent says that it failed. */
export function agentFailure({ code, message }: Extract<LegEnd, { outcome: 'error' }>): Failure {
  return failed(code, message.slice(0, messageMaxCharacters).toWellFormed());
}
