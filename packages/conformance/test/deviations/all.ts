import { wrongClients } from './clients.ts';
import { wrongGates, wrongTenants } from './gates.ts';
import type { Wrong } from './making.ts';
import { wrongInteractions, wrongRestarts } from './people.ts';
import { wrongRuns } from './runs.ts';

/** For each check of the kit a deviation that makes it fail. */
export const wrongs: readonly Wrong[] = [
  ...wrongRuns,
  ...wrongInteractions,
  ...wrongRestarts,
  ...wrongGates,
  ...wrongTenants,
  ...wrongClients,
];
