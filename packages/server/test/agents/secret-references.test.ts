import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openAgents } from '../../src/agents/registry.ts';
import {
  missingVariables,
  redactor,
  resolveReferences,
} from '../../src/agents/secret-references.ts';
import {
  declaringHarness,
  recordingLog,
  temporaryFolder,
  writeFiles,
} from '../support/agent-folders.ts';

describe('a reference', () => {
  test('to a variable or a file is replaced by its value, anywhere in the text', async () => {
    const path = join(await temporaryFolder(), 'key');
    await writeFile(path, 'from-a-file\n', { mode: 0o600 });
    const texts = { A: '${env:MY_KEY}', B: `Bearer \${file:${path}}!`, C: 'plain ${HOME}', D: '' };
    expect(
      await resolveReferences(texts, { environment: { MY_KEY: '$& $1 value' } }),
    ).toMatchObject({
      ok: true,
      values: { A: '$& $1 value', B: 'Bearer from-a-file!', C: 'plain ${HOME}', D: '' },
    });
  });

  test.each([
    ['${env:GONE}', 'the server has no such environment variable'],
    ['${env:EMPTY}', 'the server has no such environment variable'],
    ['${env:CONVOKE_DATABASE_URL}', 'agents cannot read the settings of the server (CONVOKE_*)'],
    ['${file:relative/key}', 'its path is not absolute'],
    ['${file:/nonexistent/key}', 'it cannot be read (ENOENT)'],
    ['${file:/}', 'it is not a file'],
  ])('%s is refused with the reason', async (text, reason) => {
    const environment = { EMPTY: '', CONVOKE_DATABASE_URL: 'postgres://secret' };
    const resolved = await resolveReferences({ API_KEY: text }, { environment });
    expect(resolved).toEqual({ ok: false, message: `API_KEY refers to ${text}, but ${reason}.` });
  });

  test('to a file that other users may read is refused', async () => {
    const path = join(await temporaryFolder(), 'key');
    await writeFile(path, 'secret');
    await chmod(path, 0o640);
    expect(await resolveReferences({ K: `\${file:${path}}` })).toMatchObject({
      ok: false,
      message: expect.stringContaining('chmod 600'),
    });
  });

  test('returns a redactor for its value', async () => {
    const resolved = await resolveReferences(
      { A: 'x-${env:A}' },
      { environment: { A: 'hunter2-hunter2' } },
    );
    const said = resolved.ok ? resolved.redact('key hunter2-hunter2 used') : '';
    expect(said).toBe('key [secret] used');
  });
});

test('missing variables are named once each; files and settings of the server are not variables of an agent', () => {
  const texts = [
    '${env:B}-${env:A}',
    '${env:B}',
    '${file:/none}',
    'plain',
    '${env:CONVOKE_X}',
    '${env:HERE}',
    '${env:EMPTY}',
  ];
  expect(missingVariables(texts, { HERE: 'x', EMPTY: '' })).toEqual(['A', 'B', 'EMPTY']);
});

test('a redactor replaces a secret in JSON, in a URL and as part of another secret', () => {
  const redact = redactor(['pa"ss word', 'abcdef', 'abcdef-longer', 'tiny']);
  expect(redact('pa"ss word')).toBe('[secret]');
  expect(redact(JSON.stringify({ a: 'pa"ss word' }))).toBe('{"a":"[secret]"}');
  expect(redact('?k=pa%22ss%20word')).toBe('?k=[secret]');
  expect(redact('abcdef-longer abcdef')).toBe('[secret] [secret]');
  expect(redact('a tiny thing')).toBe('a tiny thing');
});

describe('an agent folder', () => {
  async function warningsFor(env: Record<string, string>): Promise<string> {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'tester'));
    const yaml = { framework: 'scripted', script: [], env };
    await writeFiles(folder, { 'tester/agent.yaml': JSON.stringify(yaml) });
    const log = recordingLog();
    const harnesses = new Map([['scripted', declaringHarness]]);
    const agents = await openAgents({ folder, harnesses, log, watch: false });
    onTestFinished(() => agents.close());
    return JSON.stringify(log.warnings);
  }

  test.each([
    'sk-proj-abcdefghijklmnop',
    'ghp_abcdefghij0123456789',
    'AKIAABCDEFGHIJKLMNOP',
    'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RF',
  ])('with the literal %s causes a warning that does not repeat it', async (value) => {
    const warnings = await warningsFor({ SETTING: value });
    expect(warnings).toContain('env.SETTING looks like a secret');
    expect(warnings).not.toContain(value);
  });

  test('with references and ordinary values causes no warning', async () => {
    const env = {
      API_KEY: '${env:X}',
      A_TOKEN: '${file:/run/x}',
      URL: 'https://a.b/c',
      LEVEL: '3',
    };
    expect(await warningsFor(env)).toBe('[]');
  });
});
