import { codeHarness } from '../../../src/harness/stdio/code.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordingLog } from '../../support/agent-folders.ts';
import { type OpenStdio, openStdio } from '../stdio/leg.ts';

/** The real sandbox, and the adapter of agents as code. */
export async function openCode(): Promise<OpenStdio> {
  const opened = await openStdio();
  const { sandbox } = opened;
  return { ...opened, harness: codeHarness({ sandbox, clock: systemClock, log: recordingLog() }) };
}
