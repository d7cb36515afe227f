import { expect, test } from 'vitest';
import { sandboxFinding } from '../../src/operate/doctor/sandbox.ts';
import type { SandboxReport } from '../../src/ports/sandbox.ts';
import { type Capabilities, reportOf } from '../../src/sandbox/capabilities.ts';

const reason = 'bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap)';
const without: Capabilities = {
  programs: {
    sh: '/bin/sh',
    bash: undefined,
    bwrap: undefined,
    setpriv: undefined,
    prlimit: '/usr/bin/prlimit',
    socat: undefined,
  },
  cgroups: undefined,
  bubblewrap: { works: false, reason },
  filter: { works: false, reason },
  limitsTmpfs: false,
};

test('without bubblewrap doctor says that agents cannot run programs, and what to install', () => {
  const finding = sandboxFinding(reportOf('auto', without, { uid: 1000 }));
  expect(finding).toEqual({
    check: 'sandbox',
    state: 'warn',
    text: 'agents cannot run programs here: those that need to fail, all others work',
    remedy: reason,
  });
});

test('doctor says how programs run where they do', () => {
  const wrapped: SandboxReport = {
    mode: 'auto',
    level: 'bwrap',
    userNamespace: true,
    systemCalls: 'filtered',
    network: 'allow-list',
    limits: 'prlimit',
    uid: 1000,
    problems: [],
  };
  expect(sandboxFinding(wrapped)).toMatchObject({
    state: 'ok',
    text: 'programs run in bwrap, system calls filtered, no file of the server open, network allow-list, limits by prlimit',
  });
  const bare = { ...wrapped, mode: 'none', level: 'none', network: 'open' } as const;
  expect(sandboxFinding({ ...bare, systemCalls: 'unfiltered', problems: [reason] })).toMatchObject({
    state: 'warn',
    text: 'programs run without a sandbox, system calls unfiltered, network open, limits by prlimit',
  });
});
