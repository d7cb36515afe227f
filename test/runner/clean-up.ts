// Vitest runs this before each test file, also when several files share a process.
import { afterAll } from 'vitest';
import { markFileDone } from '../../packages/server/test/support/coverage/journal.ts';
import { cleanUpAfterFile } from './file-end.ts';
import { refuseLeftovers } from './leftovers.ts';

const environment = { ...process.env };

afterAll(async () => {
  await cleanUpAfterFile();
  markFileDone();
  refuseLeftovers(environment);
});
