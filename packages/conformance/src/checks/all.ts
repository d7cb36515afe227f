import type { Check, LaterCheck, RestartCheck } from '../check.ts';
import { clientChecks } from './clients.ts';
import { convokeChecks, convokeRestartChecks } from './convoke.ts';
import { credentialChecks } from './credentials.ts';
import { errorChecks } from './errors.ts';
import { eventChecks } from './events.ts';
import { fileChecks } from './files.ts';
import { gateChecks } from './gate.ts';
import { interactionChecks } from './interactions.ts';
import { isolationChecks } from './isolation.ts';
import { laterChecks } from './later.ts';
import { limitChecks } from './limits.ts';
import { restartChecks } from './restarts.ts';
import { runChecks } from './runs.ts';
import { sessionChecks } from './sessions.ts';
import { tenantChecks } from './tenants.ts';
import { workspaceChecks } from './workspaces.ts';

/** Every check, by the noun that it looks at. */
export const checks: readonly Check[] = [
  ...gateChecks,
  ...workspaceChecks,
  ...sessionChecks,
  ...runChecks,
  ...eventChecks,
  ...interactionChecks,
  ...fileChecks,
  ...errorChecks,
  ...isolationChecks,
  ...clientChecks,
  ...credentialChecks,
  ...tenantChecks,
  ...limitChecks,
  ...convokeChecks,
];

export const checksOverTime: readonly LaterCheck[] = laterChecks;

export const checksOverRestart: readonly RestartCheck[] = [
  ...restartChecks,
  ...convokeRestartChecks,
];
