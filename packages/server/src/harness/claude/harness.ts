import type { Harness } from '../../ports/harness.ts';
import { LazyLeg } from '../lazy-leg.ts';
import type { ClaudeParts } from './leg.ts';
import { claudeSdkProblem, loadClaudeSdk } from './sdk.ts';
import { type ClaudeSettings, readClaude } from './settings.ts';

/**
 * Runs Claude Code through Anthropic's Agent SDK, which the operator installs. The SDK is loaded when a run needs it.
 */
export function claudeHarness(
  parts: Omit<ClaudeParts, 'load'> & Partial<Pick<ClaudeParts, 'load'>>,
): Harness<ClaudeSettings> {
  const whole = { load: () => loadClaudeSdk(), ...parts };
  return {
    framework: 'claude',
    readsWords: true,
    output: 'native',
    afterLoss: 'session',
    // Claude stores its session itself, and what a loss leaves of it is not certain: its author has to choose.
    onLoss: 'fail',
    // 2: what a leg that resumes has to know. 3: the run in which Claude's session began.
    checkpointFormat: 3,
    countsTokens: true,
    reportsCost: true,
    runsPrograms: true,
    lacks: () => (parts.load === undefined ? claudeSdkProblem() : undefined),
    read: readClaude,
    start: (input, context) =>
      new LazyLeg(import('./leg.ts').then(({ ClaudeLeg }) => new ClaudeLeg(whole, input, context))),
  };
}
