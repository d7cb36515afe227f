// node scripts/release.mjs set 0.2.0     gives every package that version, and CHANGELOG.md its section
// node scripts/release.mjs check 0.2.0   fails unless they have it
// node scripts/release.mjs notes 0.2.0   prints the section
import { fileURLToPath } from 'node:url';
import { releaseNotes, releaseProblems, setVersion } from './release-version.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [task, given = ''] = process.argv.slice(2);
// A tag begins with v.
const version = given.replace(/^v/, '');

if (task === 'set') {
  setVersion(root, version, new Date().toISOString().slice(0, 10));
  console.log(
    `Every package has the version ${version}. Now: npm run reference, npm test, npm run test:faults, commit.`,
  );
} else if (task === 'check') {
  const problems = releaseProblems(root, version);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} else if (task === 'notes') {
  console.log(releaseNotes(root, version));
} else {
  console.error('Usage: node scripts/release.mjs set|check|notes <version>');
  process.exitCode = 2;
}
