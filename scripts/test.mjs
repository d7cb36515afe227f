// npm test: every check, and every test but the exhaustive ones, which `npm run test:faults` runs. Arguments go to
// vitest: `npm test -- packages/server/test/domain`.
import { launch } from '../packages/launch/src/launch.mjs';
import { runTestsAndChecks } from './tools.mjs';

const vitest = ['run', '--project=!exhaustive', ...process.argv.slice(2)];
// The checks use what the tests leave of the processor, which is enough in the first minute.
const niceness = 10;
await launch(() => runTestsAndChecks({ vitest, niceness, passed: 'All checks and tests pass.' }));
