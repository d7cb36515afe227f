import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAgentFolder } from '../../src/agents/agent-folder.ts';
import { scanFolder } from '../../src/agents/folder-scan.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import { readScript } from '../../src/harness/scripted/script.ts';
import type { Harness } from '../../src/ports/harness.ts';
import { declaringHarness, temporaryFolder, writeFiles } from '../support/agent-folders.ts';

const harnesses = new Map<string, Pick<Harness, 'read' | 'callsAgents'>>([
  ['scripted', { read: readScript, callsAgents: true }],
  ['acp', declaringHarness],
]);

async function read(yaml: string, files: Record<string, string> = {}, name = 'tester') {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'agent.yaml': yaml, ...files });
  return readAgentFolder({ folder, name, harnesses });
}

async function reason(yaml: string, files: Record<string, string> = {}, name = 'tester') {
  const result = await read(yaml, files, name);
  return result.ok ? 'accepted' : result.reason;
}

test('a rule that matches no call is a warning for the author (D-528)', async () => {
  const result = await read(
    [
      'framework: acp',
      'tools: [refund, "mail/*"]',
      'rules:',
      '  - { name: refunds, tools: [refund], effect: ask }',
      '  - { name: typo, tools: [refnud], effect: deny }',
      '  - { name: mail, tools: ["mail/send"], effect: deny }',
      '  - { name: late, tools: [refund], effect: allow, when: [{ path: /amount, lte: 50 }] }',
    ].join('\n'),
  );
  expect(result).toMatchObject({
    warnings: [
      'the rule typo: refnud is not a tool of tester.',
      'the rule late: The rule refunds above it decides about every call that it names.',
    ],
  });
});

describe('the ceiling of an agent (D-131, D-132)', () => {
  const yaml = 'framework: acp\nmodel: big\nlimits: { max_tokens: 1000, max_cost: 2.50 }';

  test('is read as tokens and as an amount', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'agent.yaml': yaml });
    const models = [{ glob: 'big', input: 1, output: 1 }];
    const prices = { ...noPrices, models };
    const result = await readAgentFolder({ folder, name: 'tester', harnesses, prices });
    expect(result).toMatchObject({
      agent: { limits: { ceiling: { maxTokens: 1000, maxCostMicros: 2_500_000 } } },
    });
  });

  test('of cost needs a price for the model', async () => {
    expect(await reason(yaml)).toBe(
      'agent.yaml:3:29: limits.max_cost needs a price for big in the file that CONVOKE_PRICES names, or "unpriced: allow" there',
    );
    expect(await reason('framework: acp\nlimits: { max_cost: -1 }')).toContain(
      'agent.yaml:2:11: limits.max_cost must be an amount such as 2.50',
    );
  });
});

describe('an agent folder', () => {
  test('has every default filled in', async () => {
    const result = await read('framework: acp');
    expect(result).toEqual({
      ok: true,
      agent: {
        name: 'tester',
        description: '',
        framework: 'acp',
        approvalRequiredTools: [],
        sessionFiles: false,
        onBusy: 'queue',
        rules: [],
        publish: [],
        contextFiles: [],
        enableClaudeMd: false,
        facts: { tools: ['*'], skills: [], missingVariables: [], loadedAt: expect.any(Number) },
        skills: 'all',
        limits: {
          runSeconds: 900,
          waitHours: 72,
          ceiling: { maxTokens: null, maxCostMicros: null },
        },
        recovery: {
          onLoss: 'resume',
          attempts: 3,
          inDoubt: 'ask',
          repeatableTools: [],
          cutMessage: 'continue',
        },
        tenants: { default: 'enabled', allow: [], deny: [] },
        folder: expect.any(String),
        hasFixedToolInput: false,
        digest: expect.any(String),
        reportsCost: false,
        settings: {
          instructions: undefined,
          command: [],
          url: undefined,
          env: {},
          tools: ['*'],
          mcpServers: {},
          asksUser: true,
          sleeps: false,
          stepsMax: 25,
          limits: { memoryMb: 1024, pids: 128 },
          sandbox: { mode: 'auto', network: [] },
          acp: { authMethod: undefined, mode: undefined, meta: undefined },
          code: { keepSeconds: 120 },
          script: undefined,
        },
      },
      warnings: [],
    });
  });

  test('may use every key of the format, and its harness gets the keys of its framework', async () => {
    const result = await read(
      [
        'schema: 1',
        'name: tester',
        'description: Writes release notes',
        'framework: acp',
        'model: openai-compatible/gpt-x',
        'instructions: ./instructions.md',
        'command: [codex-acp]',
        'url: https://agents.example/a2a',
        'env: { API_KEY: "${env:OPENAI_API_KEY}", LEVEL: debug }',
        'tools: [read_file, write_file, "tickets/*"]',
        'approval_required_tools: [write_file, "tickets/create", execute]',
        'mcp_servers: { tickets: { command: node, args: [server.js] } }',
        'ask_user: false',
        'context_files: [./docs/STYLE.md]',
        'enable_claude_md: true',
        'skills: [one, two]',
        'session_files: true',
        'on_busy: reject',
        'limits: { run_seconds: 60, wait_hours: 1, max_steps: 5, memory_mb: 512, pids: 64 }',
        'sandbox: { mode: bwrap, network: [api.openai.com] }',
        'tenants: { default: disabled, allow: [ten_a], deny: [ten_b] }',
      ].join('\n'),
      { 'instructions.md': 'Be brief.' },
    );
    expect(result).toMatchObject({
      ok: true,
      agent: {
        model: 'openai-compatible/gpt-x',
        contextFiles: ['docs/STYLE.md'],
        enableClaudeMd: true,
        skills: ['one', 'two'],
        sessionFiles: true,
        onBusy: 'reject',
        limits: { runSeconds: 60, waitHours: 1 },
        tenants: { default: 'disabled', allow: ['ten_a'], deny: ['ten_b'] },
        settings: {
          instructions: 'Be brief.',
          command: ['codex-acp'],
          url: 'https://agents.example/a2a',
          env: { API_KEY: '${env:OPENAI_API_KEY}', LEVEL: 'debug' },
          mcpServers: { tickets: { command: 'node', args: ['server.js'] } },
          asksUser: false,
          stepsMax: 5,
          limits: { memoryMb: 512, pids: 64 },
          sandbox: { mode: 'bwrap', network: ['api.openai.com'] },
        },
      },
    });
  });

  test('uses instructions.md and mcp.json without naming them', async () => {
    const result = await read('framework: acp\n', {
      'instructions.md': 'Hello.',
      'mcp.json': '{"mcpServers": {"tickets": {"url": "http://127.0.0.1:1"}}}',
    });
    expect(result).toMatchObject({
      agent: {
        settings: {
          instructions: 'Hello.',
          mcpServers: { tickets: { url: 'http://127.0.0.1:1' } },
        },
      },
    });
  });

  test.each([
    ['framwork: scripted', 'agent.yaml:1:1: framwork is an unknown key; did you mean "framework"?'],
    [
      'framework: acp\nlimits:\n  run_second: 3',
      'agent.yaml:3:3: limits.run_second is an unknown key; did you mean "run_seconds"?',
    ],
    [
      'framework: acp\nsession-files: true',
      'agent.yaml:2:1: session-files is an unknown key; did you mean "session_files"?',
    ],
    ['framework: acp\n__proto__: {a: 1}', '__proto__ is an unknown key'],
    [
      'framework: acp\nrules:\n  - name: a\n    tools: [x]\n    efect: ask',
      'agent.yaml:5:5: rules[0].efect is an unknown key; did you mean "effect"?',
    ],
    [
      'framework: acp\nrules:\n  - name: a\n    tools: [x]\n    effect: ask\n    when: [{ path: amount, gt: 5 }]',
      'agent.yaml:6:14: rules[0].when[0].path must be a JSON Pointer',
    ],
    [
      'framework: acp\nrules:\n  - { name: a, tools: [x], effect: deny, tenants: [ten_1] }',
      'agent.yaml:3:42: rules[0].tenants is an unknown key',
    ],
    ['framework: acp\nframework: acp', 'agent.yaml:2:1: Map keys must be unique'],
    [
      'framework: ai-sdk',
      'agent.yaml:1:1: framework ai-sdk is not available in this build (available: acp, scripted)',
    ],
    [
      'framework: acp\nname: tester\n  model: x\ndescription: a: b\n\tenv: {}',
      'agent.yaml:3:3: the line is indented, but belongs to no key; agent.yaml:4:14: the value contains ": " and needs quotes; agent.yaml:5:1: the line is indented with a tab: use spaces',
    ],
    ['env:\n  A: b\n B: c', 'agent.yaml:3:1: the line is indented differently than'],
    ['framework: acp\nname\nenv: {}', 'agent.yaml:2:1: the line is not a key with a value'],
    [
      'framework: none\nname: other\ndescripton: a\nlimits: { memory_mb: a }',
      'agent.yaml:4:11: limits.memory_mb must be a number, not a string; agent.yaml:3:1: descripton is an unknown key; did you mean "description"?; agent.yaml:2:1: name must be the folder\'s name, "tester"; agent.yaml:1:1: framework none is not available',
    ],
    ['framework: acp\nname: other', 'agent.yaml:2:1: name must be the folder\'s name, "tester"'],
    ['framework: acp\nschema: 2', 'schema must be 1'],
    [
      'framework: acp\ncontext_files: [ok.md, ../up.md]',
      'agent.yaml:2:24: context_files[1] must be a relative path',
    ],
    ['framework: acp\ncontext_files: [/etc/passwd]', 'context_files[0] must be a relative path'],
    ['framework: acp\ncontext_files: ["a\\\\..\\\\b"]', 'context_files[0] must be a relative path'],
    ['framework: acp\ninstructions: ./none.md', 'instructions names a file that does not exist'],
    ['framework: acp\nskills: some', 'skills must be all, none or a list of skill names'],
    ['framework: acp\nenv: { MY_TOKEN: abc }', 'env.MY_TOKEN looks like a secret'],
    ['framework: acp\nurl: ftp://x', 'url must be an http or https URL'],
    ['framework: acp\nscript: []', 'script belongs to the framework "scripted" only'],
    ['framework: acp\nlimits: { run_seconds: .inf }', 'limits.run_seconds'],
    [
      'framework: acp\nrecovery:\n  on_los: fail',
      'agent.yaml:3:3: recovery.on_los is an unknown key; did you mean "on_loss"?',
    ],
    ['framework: acp\nrecovery:\n  attempts: 0', 'agent.yaml:3:3: recovery.attempts'],
    ['framework: acp\nrecovery:\n  attempts: 21', 'agent.yaml:3:3: recovery.attempts'],
    ['framework: acp\nrecovery:\n  in_doubt: maybe', 'agent.yaml:3:3: recovery.in_doubt'],
    [
      'framework: acp\nrecovery:\n  repeatable_tools: [ok, ""]',
      'agent.yaml:3:26: recovery.repeatable_tools[1]',
    ],
    [
      'framework: acp\nagents: [critic]',
      'agent.yaml:2:1: agents has no effect: acp agents cannot call agents',
    ],
    ['framework: acp\nsleep: true', 'agent.yaml:2:1: sleep has no effect: acp agents cannot sleep'],
    [
      'framework: scripted\nagents: [critic, tester, critic]\nscript: [say: x]',
      'agent.yaml:2:18: agents[1] is the agent itself, which cannot call itself; agent.yaml:2:26: agents[2] names critic again',
    ],
    ['framework: scripted\nagents: [The Critic]\nscript: [say: x]', 'agent.yaml:2:10: agents[0]'],
    ['framework: acp\npublish: [a2b]', 'agent.yaml:2:11: publish[0] must be a2a'],
    ['framework: acp\npublish: a2a', 'agent.yaml:2:1: publish must be a list, as in [a2a]'],
    ['framework: acp\npublish: [a2a, a2a]', 'agent.yaml:2:1: publish'],
    ['framework: scripted', 'script must be a non-empty list of steps'],
    ['', 'agent.yaml is empty'],
    ['- a', 'agent.yaml:1:1: must be an object, not an array'],
    ['a: *x', 'Unresolved alias'],
    ['framework: acp\n---\nframework: acp', 'agent.yaml:2:1'],
    [
      'framework: acp\nrecovery: { cut_message: again }',
      'agent.yaml:2:13: recovery.cut_message has no effect with acp',
    ],
  ])('with %j is refused, with the place and what to do', async (yaml, expected) => {
    expect(await reason(yaml)).toContain(expected);
  });

  test('cannot make the reader expand aliases without bound', async () => {
    const levels = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (let level = 1; level < 9; level += 1) {
      const inner = Array.from({ length: 10 }, () => `*${'abcdefghi'[level - 1]}`);
      levels.push(`${'abcdefghi'[level]}: &${'abcdefghi'[level]} [${inner.join(',')}]`);
    }
    expect(await reason(levels.join('\n'))).toContain('Excessive alias count');
  });

  test('cannot exhaust the stack of the reader', async () => {
    expect(await reason('['.repeat(100_000))).toContain('agent.yaml:1:');
  });

  test('is refused when agent.yaml is larger than 256 KiB or is not UTF-8', async () => {
    expect(await reason(`# ${'x'.repeat(256 * 1024)}\nframework: acp`)).toContain(
      'larger than 262144',
    );
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'agent.yaml'), Buffer.from([0x61, 0x3a, 0xff, 0xfe]));
    const result = await readAgentFolder({ folder, name: 'tester', harnesses });
    expect(result).toMatchObject({ reason: 'agent.yaml is not UTF-8 text' });
  });

  test('has a name that is valid in a path', async () => {
    expect(await reason('framework: acp', {}, 'Capital')).toContain("the folder's name must be");
  });

  test('is refused when agent.yaml or its instructions are links that leave it', async () => {
    const [outside, folder] = [await temporaryFolder(), await temporaryFolder()];
    await writeFiles(outside, { 'agent.yaml': 'framework: acp', 'secret.md': 'secret' });
    await symlink(join(outside, 'agent.yaml'), join(folder, 'agent.yaml'));
    const linked = await readAgentFolder({ folder, name: 'tester', harnesses });
    expect(linked).toMatchObject({ reason: "agent.yaml is a link that leaves the agent's folder" });

    const second = await temporaryFolder();
    await writeFiles(second, { 'agent.yaml': 'framework: acp\n' });
    await symlink(join(outside, 'secret.md'), join(second, 'instructions.md'));
    const leaking = await readAgentFolder({ folder: second, name: 'tester', harnesses });
    expect(leaking).toMatchObject({
      reason: "instructions.md is a link that leaves the agent's folder",
    });
  });

  test('is refused when a link anywhere in workspace/ or skills/ leaves it or has no target', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'workspace/deep'), { recursive: true });
    await writeFiles(folder, { 'workspace/real.txt': 'x' });
    await symlink('../real.txt', join(folder, 'workspace/deep/inside'));
    expect((await scanFolder(folder)).problem).toBeUndefined();
    await symlink('/etc/passwd', join(folder, 'workspace/deep/out'));
    expect((await scanFolder(folder)).problem).toBe(
      "workspace/deep/out is a link that leaves the agent's folder",
    );
    const dangling = await temporaryFolder();
    await symlink('nowhere', join(dangling, 'skills'));
    expect((await scanFolder(dangling)).problem).toBe(
      'skills is a link to a file that does not exist',
    );
  });

  test('with a pipe in place of a file is refused and does not block the reader', async () => {
    const folder = await temporaryFolder();
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [join(folder, 'agent.yaml')]);
    const result = await readAgentFolder({ folder, name: 'tester', harnesses });
    expect(result).toMatchObject({ reason: 'agent.yaml is not a file' });
  });
});

describe('a script', () => {
  const scripted = (steps: string) => reason(`framework: scripted\nscript:\n${steps}`);

  test.each([
    ['  - shout: hi', 'agent.yaml:3:5: script[0].shout is an unknown key'],
    ['  - sleep: 5', 'script[0].sleep must be a time such as 90s'],
    ['  - sleep_sm: 5', 'did you mean "sleep_ms"?'],
    ['  - say: hi\n    sleep_ms: 1', 'agent.yaml:3:5: script[0] must have exactly one of say'],
    ['  - hello', 'script[0] must have exactly one of'],
    ['  - say: 7', 'script[0].say must be a string or {text, every_ms}'],
    ['  - sleep_ms: 3600001', 'agent.yaml:3:5: script[0].sleep_ms'],
    ['  - ask: { qestion: x }', 'qestion is an unknown key; did you mean "question"?'],
    ['  - tool: { name: rm }', 'script[0].tool.name'],
    ['  - emit: { type: "Bad Name" }', 'script[0].emit.type must be'],
    ['  - fail: { message: m, code: internal_error }', 'script[0].fail.code'],
    ['  - repeat: { times: 2, steps: [{ say: 1 }] }', 'script[0].repeat.steps[0].say'],
    ['  - repeat: { times: 0, steps: [{ say: a }] }', 'script[0].repeat.times'],
    [
      '  - repeat: { times: 1001, steps: [{ repeat: { times: 100, steps: [{ say: a }] } }] }',
      'more than 100000 steps',
    ],
  ])('with %j is refused when the folder is read', async (steps, expected) => {
    expect(await scripted(steps)).toContain(expected);
  });

  test('may have up to 100,000 steps and eight nested repeats', async () => {
    const nested = (depth: number): string =>
      depth === 0 ? '{ say: a }' : `{ repeat: { times: 1, steps: [${nested(depth - 1)}] } }`;
    expect(await scripted('  - repeat: { times: 100000, steps: [{ say: a }] }')).toBe('accepted');
    expect(await scripted(`  - ${nested(8)}`)).toBe('accepted');
    expect(await scripted(`  - ${nested(9)}`)).toContain('is nested deeper than 8');
  });

  test("may use only the agent's own tools", async () => {
    const yaml = (tools: string) =>
      `framework: scripted\ntools: ${tools}\nscript:\n  - tool: { name: write_file, input: {} }\n`;
    expect(await reason(yaml('[read_file]'))).toContain(
      "write_file is not one of the agent's tools",
    );
    expect(await reason(yaml('["*_file"]'))).toBe('accepted');
  });
});
