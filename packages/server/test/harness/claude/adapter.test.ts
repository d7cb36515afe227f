import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { claudeHarness } from '../../../src/harness/claude/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordingLog, temporaryFolder } from '../../support/agent-folders.ts';
import { adapterSuite } from '../adapter-suite.ts';
import { Sitting } from '../sittings.ts';
import { claudeApprovalsSuite } from './approvals-suite.ts';
import { noSandbox } from './no-sandbox.ts';
import { claudeOutputSuite } from './output-suite.ts';
import { claudePlans } from './plans.ts';
import { currentTest, readRecording } from './sdk-recording.ts';
import { ReplayedSdk } from './sdk-replay.ts';

// The SDK is not installed here, so it is replaced by a recording of it. `npm run test:agents` runs the same suites
// with the real SDK. With CLAUDE_RECORDING=$PWD/queries.jsonl it writes a new recording; take the lines of these tests
// from it.
const recording = readRecording(fileURLToPath(new URL('recorded-queries.jsonl', import.meta.url)));
const settings = { env: { ANTHROPIC_API_KEY: 'test' } };
const plans = claudePlans(settings);

/** One for each test: its queries come one after the other, over restarts of the server. */
const sdks = new Map<string, ReplayedSdk>();
function sdkOfTest(): ReplayedSdk {
  const name = currentTest();
  const sdk = sdks.get(name) ?? new ReplayedSdk(recording.get(name) ?? []);
  sdks.set(name, sdk);
  return sdk;
}

function harness() {
  const sdk = sdkOfTest();
  return claudeHarness({
    sandbox: noSandbox,
    clock: systemClock,
    log: recordingLog(),
    load: async () => sdk,
  });
}

adapterSuite('claude', {
  open: async () => ({ harness: harness() }),
  planFor: plans.planFor,
  memory: plans.memory,
  isWorking: () => sdkOfTest().running > 0,
  shows: plans.shows,
  rules: { path: '/file_path' },
});

describe('claude', () => {
  const sit: Parameters<typeof claudeApprovalsSuite>[0] = async (parts, own = {}) => {
    const folder = await temporaryFolder();
    const [sessionFolder, stateDir] = [join(folder, 'workspace'), join(folder, 'home')];
    for (const path of [sessionFolder, stateDir]) await mkdir(path);
    const agent = { ...plans.planOf('say').agent, ...parts, settings: { ...settings, ...own } };
    const sitting = new Sitting(harness(), { name: 'claude', agent, sessionFolder, stateDir });
    const made = (file: string) =>
      readFile(join(sessionFolder, file), 'utf8').catch(() => undefined);
    return { sitting, made };
  };
  claudeApprovalsSuite(sit);
  claudeOutputSuite(sit);

  test('every recorded query belongs to a test', () => {
    expect(Array.from(recording.keys()).filter((name) => !sdks.has(name))).toEqual([]);
  });
});
