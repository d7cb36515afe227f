// The templates of frameworks with their real packages, killed at every line in the sandbox, with a model on loopback.
import { execFile } from 'node:child_process';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { root } from '../../../../test/repository.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { openTemplates } from '../../../cli/test/rehearsed-template.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { type Framework, installedFramework } from './framework-programs.ts';

beforeAll(() => requireSandbox());

/** The agent of a template, with a model of this machine. `prepare` makes its packages available to the sandbox. */
async function rehearsed(template: string, prepare: (place: string) => Promise<void>) {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  await using templates = await openTemplates();
  const place = await templates.create('clerk', template);
  await prepare(place);
  const file = join(place, 'agent.yaml');
  const yaml = (await readFile(file, 'utf8'))
    .replace('env: {', `env: { OPENAI_BASE_URL: "${model.url}/v1",`)
    .replace('api.openai.com', new URL(model.url).host);
  await writeFile(file, yaml);
  const more = { args: ['--answer', 'late'], env: { OPENAI_API_KEY: 'key' } };
  return await templates.kill('clerk', '@@ call refund {"order":7} ;; last', more);
}

const whole = {
  text: expect.stringContaining('R-7'),
  kill: { lost: 0, problems: [] },
};

/** Bundles it as its script does, with these packages. */
async function bundle(place: string, packages: string): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as {
    scripts: { bundle: string };
  };
  const linked = join(place, 'node_modules');
  await symlink(packages, linked);
  await promisify(execFile)('/bin/sh', ['-c', scripts.bundle], { cwd: place });
  await rm(linked);
  const file = join(place, 'agent.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('# entry:', 'entry:'));
}

const timeout = 1_800_000;

test('AI SDK, bundled', { timeout }, async () => {
  const own = join(root, 'node_modules');
  expect(await rehearsed('ai-sdk', (place) => bundle(place, own))).toMatchObject(whole);
});

describe.each<Framework>(['openai-agents', 'mastra', 'langgraph'])('%s', (framework) => {
  test('bundled', { timeout }, async () => {
    const report = await rehearsed(framework, async (place) =>
      bundle(place, join(await installedFramework(framework), 'node_modules')),
    );
    expect(report).toMatchObject(whole);
  });

  test('as npm installs it', { timeout }, async () => {
    const report = await rehearsed(framework, async (place) => {
      const packages = join(await installedFramework(framework), 'node_modules');
      await cp(packages, join(place, 'node_modules'), { recursive: true });
    });
    expect(report).toMatchObject(whole);
  });
});
