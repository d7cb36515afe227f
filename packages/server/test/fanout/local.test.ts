import { beforeEach, describe, expect, test } from 'vitest';
import { createLocalFanout } from '../../src/fanout/local.ts';
import type { Fanout } from '../../src/ports/fanout.ts';
import { fanoutSuite } from './suite.ts';

describe('wake-ups within one process', () => {
  let only: Fanout;
  beforeEach(() => {
    only = createLocalFanout();
  });

  fanoutSuite(() => ({ join: async () => only, interrupt: async () => false }));

  test('cannot be lost, so subscribers need not poll', () => {
    expect(only.lossless).toBe(true);
  });
});
