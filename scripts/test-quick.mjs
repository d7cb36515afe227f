// npm run test:quick: types, lint and the quick tests. Arguments go to vitest: `npm run test:quick -- runs`.
import { launch } from '../packages/launch/src/launch.mjs';
import { runTestsAndChecks } from './tools.mjs';

const vitest = ['run', '--config', 'vitest-quick.config.ts', ...process.argv.slice(2)];
const checks = ['types', 'lint'];
await launch(() => runTestsAndChecks({ vitest, checks, passed: 'The quick tests pass.' }));
