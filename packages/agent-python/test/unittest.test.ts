import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../test/repository.ts';

const kit = join(root, 'packages/agent-python');

test("the kit passes its own tests in Python, on the machine's interpreter", () => {
  const { status, stderr } = spawnSync(
    '/usr/bin/python3',
    ['-B', '-W', 'error', '-m', 'unittest'],
    {
      cwd: join(kit, 'test'),
      env: { PYTHONPATH: kit, LANG: 'C.UTF-8' },
      encoding: 'utf8',
    },
  );
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^Ran \d\d tests/m)]);
});
