// Reads the planted bugs: patches below test/planted. The text before a patch says what the bug is and which tests must
// catch it, one line each: `Caught by: path/of/a.test.ts > part of a title`. A bug that `npm test` does not notice has
// a line that says so: `Only npm run test:faults notices it.`
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const plantsFolder = fileURLToPath(new URL('../test/planted', import.meta.url));

/**
 * @typedef {object} Plant
 * @property {string} name
 * @property {string} path
 * @property {string} bug
 * @property {boolean} onlyByFaults Marked as noticed by `npm run test:faults` alone.
 * @property {{ file: string, title: string }[]} tests
 */

/** @returns {Plant[]} */
export function readPlants() {
  return readdirSync(plantsFolder)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((file) => {
      const path = join(plantsFolder, file);
      const [head = ''] = readFileSync(path, 'utf8').split(/^diff --git /m);
      const caught = head.matchAll(/^Caught by: (\S+) > (.+)$/gm);
      return {
        name: file.replace(/\.patch$/, ''),
        path,
        bug: head.split('\n')[0] ?? '',
        onlyByFaults: /^Only npm run test:faults notices it\.$/m.test(head),
        tests: Array.from(caught, ([, test = '', title = '']) => ({ file: test, title })),
      };
    });
}

/**
 * The plants that words choose: by a part of their name, or with a slash those tests by a part of their path.
 * @param {Plant[]} plants
 * @param {string[]} words
 * @returns {Plant[]}
 */
export function choosePlants(plants, words) {
  if (words.length === 0) return plants;
  const [paths, names] = [words.filter(isPath), words.filter((word) => !isPath(word))];
  return plants.flatMap((plant) => {
    if (names.some((part) => plant.name.includes(part))) return [plant];
    const tests = plant.tests.filter(({ file }) => paths.some((part) => file.includes(part)));
    return tests.length === 0 ? [] : [{ ...plant, tests }];
  });
}

/** @param {string} word */
function isPath(word) {
  return word.includes('/');
}
