import type { LegEnd, LegInput } from '../../ports/harness.ts';
import { SandboxUnavailable, type SandboxedProcess } from '../../ports/sandbox.ts';
import { LegFailure } from '../leg-failure.ts';
import type { ClaudeProcess } from './process.ts';

export function sessionLost(): LegFailure {
  const reason = 'Claude no longer has its session, so the run cannot continue.';
  return new LegFailure('worker_lost', reason);
}

/** Whether a leg ended because Claude did not find the session that it was to continue with. */
export function isSessionMissing(end: LegEnd, { kind }: LegInput): boolean {
  const isMissing = end.outcome === 'error' && /No conversation found/i.test(end.message);
  return kind === 'continue' && isMissing;
}

/** The end of a leg whose program could not start or broke off. */
export async function endOfFailure(
  error: unknown,
  process: ClaudeProcess | undefined,
): Promise<LegEnd> {
  const child = await process?.started.catch((reason: unknown) => reason);
  if (child instanceof SandboxUnavailable) {
    return new LegFailure('sandbox_unavailable', child.message).end;
  }
  const message = error instanceof Error ? error.message : 'unknown error';
  const errors = isProcess(child) ? child.errorOutput().trim().slice(-400) : '';
  return new LegFailure('agent_error', `Claude ended unexpectedly: ${message}. ${errors}`.trim())
    .end;
}

function isProcess(child: unknown): child is SandboxedProcess {
  return typeof child === 'object' && child !== null && 'errorOutput' in child;
}
