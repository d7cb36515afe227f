// The planted bugs of test/planted stay usable. `npm run test:planted` plants them, which takes minutes; this is cheap.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { caught, hidden, missed } from '../packages/conformance/test/plants.ts';
import { choosePlants, readPlants } from '../scripts/plants.mjs';
import { files, root, textOf } from './repository.ts';
import { isExhaustive } from './runner/kinds.ts';

const plants = readPlants();
const clientRulesPath = 'packages/contract/fixtures/client-rules.json';

test.each(plants.map((plant) => [plant.name, plant] as const))(
  '%s still applies, and names tests that exist',
  (_, { path, bug, tests }) => {
    // The message of git names the line that changed: apply the bug to the new code by hand, and renew the patch.
    execFileSync('git', ['apply', '--check', path], { cwd: root, stdio: 'pipe' });
    expect(bug).toMatch(/^[A-Z].*\.$/);
    expect(tests).not.toEqual([]);
    for (const { file, title } of tests) {
      // A title may contain the name of its suite and values of `test.each`, so only its last words are searched.
      expect(withSuites(file)).toContain(title.split(' ').slice(-2).join(' '));
    }
  },
);

test('a bug that only the exhaustive tests notice is marked, and no other', () => {
  const marked = plants.filter(({ onlyByFaults }) => onlyByFaults);
  const found = plants.filter(({ tests }) => tests.every(({ file }) => isExhaustive(file)));
  expect(marked.map(({ name }) => name)).toEqual(found.map(({ name }) => name));
});

test('every patch is one of them', () => {
  expect(plants.length).toBeGreaterThan(20);
  expect(files(/^test\/planted\//)).toHaveLength(plants.length);
});

// D-232. A new patch that the conformance kit does not catch gets a line in packages/conformance/test/plants.ts.
test('of each patch it is known whether the conformance kit catches it, and it catches most that a client can see', () => {
  const listed = [caught, missed].flatMap(Object.keys).concat(Object.values(hidden).flat());
  expect(plants.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
  const named = choosePlants(plants, ['conformance/']).map(({ name }) => name);
  expect(named).toEqual(Object.keys(caught).toSorted());
  expect(named.length).toBeGreaterThanOrEqual(Object.keys(missed).length);
});

test('plants are chosen by a part of their name, or of the path of a test', () => {
  const namesOf = (...words: string[]) => choosePlants(plants, words).map(({ name }) => name);
  expect(namesOf()).toHaveLength(plants.length);
  expect(namesOf('cursor-skips')).toEqual(['cursor-skips-event']);
  const [plant] = choosePlants(plants, ['conformance/']);
  expect(plant?.tests.map(({ file }) => file)).toEqual([
    'packages/conformance/test/convoke.fault.test.ts',
  ]);
});

/** The text of a test file, of the suites it imports and of the rules it plays, which have the titles. */
function withSuites(file: string): string {
  const text = textOf(file);
  const suites = [...text.matchAll(/from '(\.[^']+-suite\.ts)'/g)].map(([, path = '']) =>
    textOf(join(dirname(file), path)),
  );
  const rules = text.includes('/client-rules.ts') ? textOf(clientRulesPath) : '';
  return [text, ...suites, rules].join('\n');
}
