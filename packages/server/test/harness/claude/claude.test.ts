import { describe, expect, test } from 'vitest';
import { claudeHarness } from '../../../src/harness/claude/harness.ts';
import { answeredInput, askingOf } from '../../../src/harness/claude/questions.ts';
import { loadClaudeSdk } from '../../../src/harness/claude/sdk.ts';
import { toolNameOf } from '../../../src/harness/claude/settings.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, problemsWith, recordingLog } from '../../support/agent-folders.ts';
import { Sitting } from '../sittings.ts';
import { noSandbox } from './no-sandbox.ts';

// Claude itself is tested by `npm run test:agents`, since its SDK is not installed here.

test('without the SDK the error says what to install, and no process is started', async () => {
  const load = () => loadClaudeSdk('no-such-package');
  const harness = claudeHarness({
    sandbox: noSandbox,
    clock: systemClock,
    log: recordingLog(),
    load,
  });
  const agent = agentOf({ framework: 'claude', settings: { env: { ANTHROPIC_API_KEY: 'x' } } });
  const places = { sessionFolder: '/nonexistent', stateDir: '/nonexistent' };
  const { end } = await new Sitting(harness, { name: '1', agent, ...places }).say('hello');
  expect(end).toMatchObject({ outcome: 'error', code: 'agent_error' });
  expect(JSON.stringify(end)).toContain('npm install @anthropic-ai/claude-agent-sdk@0.3.325');
});

test('the registry refuses an agent without a key', () => {
  const harness = claudeHarness({
    sandbox: Object.create(null),
    clock: systemClock,
    log: recordingLog(),
  });
  const check = (env: Record<string, string>) =>
    problemsWith(harness, agentOf({ framework: 'claude', settings: { env } }));
  expect(check({})).toMatchObject([{ path: ['env'] }]);
  expect(check({ ANTHROPIC_API_KEY: '${env:KEY}' })).toEqual([]);
});

test('the registry refuses a server whose name Claude would mix with those of its tools (D-1042)', () => {
  const parts = { sandbox: noSandbox, clock: systemClock, log: recordingLog() };
  const unclear = (name: string) => {
    const mcp_servers = { [name]: { url: 'https://mail.example' } };
    const settings = { env: { ANTHROPIC_API_KEY: '${env:KEY}' }, mcp_servers };
    const agent = agentOf({ framework: 'claude', settings });
    return problemsWith(claudeHarness(parts), agent).map(({ path }) => path);
  };
  for (const name of ['mail__eu', 'mail_']) expect(unclear(name)).toEqual([['mcp_servers', name]]);
  for (const name of ['mail', 'mail_eu', '_mail']) {
    expect(unclear(name)).toEqual([]);
    expect(toolNameOf(`mcp__${name}__send__now`)).toBe(`${name}/send__now`);
  }
});

describe('questions', () => {
  const input = {
    questions: [
      { question: 'Which?', options: [{ label: 'A', description: 'first' }, { label: 'B' }] },
      { question: 'Many?', options: [{ label: 'x' }, { label: 'y, z' }], multiSelect: true },
    ],
  };

  test('become one interaction each (D-39)', () => {
    expect(askingOf('call', input)).toEqual({
      refs: ['call.1', 'call.2'],
      events: [
        {
          type: 'user_question',
          ref: 'call.1',
          question: 'Which?',
          options: [{ label: 'A', description: 'first' }, { label: 'B' }],
        },
        {
          type: 'user_question',
          ref: 'call.2',
          question: 'Many?',
          options: [{ label: 'x' }, { label: 'y, z' }],
          multiple: true,
        },
      ],
    });
  });

  test('get their answers in the form that the tool reads, and none if one was declined', () => {
    const first = { kind: 'question', values: ['other, than these'] } as const;
    const second = { kind: 'question', values: ['x', 'y, z'] } as const;
    expect(answeredInput(input, [first, second])).toEqual({
      ...input,
      answers: { 'Which?': 'other, than these', 'Many?': 'x, "y, z"' },
    });
    expect(answeredInput(input, [first, { kind: 'question', declined: true }])).toBeUndefined();
  });
});

test('tools of MCP servers are named as in agent.yaml', () => {
  expect(toolNameOf('mcp__tickets__create_one')).toBe('tickets/create_one');
  expect(toolNameOf('Bash')).toBe('Bash');
});
