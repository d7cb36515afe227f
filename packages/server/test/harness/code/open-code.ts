import { codeHarness } from '../../../src/harness/code/harness.ts';
import type { ShowOutput } from '../../../src/harness/stdio/shown-output.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordingLog } from '../../support/agent-folders.ts';
import { type OpenStdio, openStdio } from '../stdio/leg.ts';

/** The real sandbox, and the adapter of agents as code. */
export async function openCode(showOutput?: ShowOutput): Promise<OpenStdio> {
  const opened = await openStdio();
  const parts = { sandbox: opened.sandbox, clock: systemClock, log: recordingLog(), showOutput };
  return { ...opened, harness: codeHarness(parts) };
}
