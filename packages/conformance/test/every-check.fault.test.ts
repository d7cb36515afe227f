// Each check of the kit fails when a service deviates from what it demands, and passes when it does not. The deviations
// are made by a proxy in front of our server; requirements.test.ts finds checks that no deviation is for.
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { checks, checksOverRestart, checksOverTime } from '../src/checks/all.ts';
import { startCheckedServer } from './checked-server.ts';
import { wrongs } from './deviations/all.ts';
import { restartPath } from './deviations/making.ts';

const server = await startCheckedServer();
atFileEnd(() => server.close());

const all = [...checks, ...checksOverTime, ...checksOverRestart];
const restart = `${process.execPath} -e "fetch('{base}${restartPath}')"`;

test.each(wrongs)('the kit sees $what', async ({ failing, make }) => {
  const own = all.filter(({ title }) => failing.includes(title));
  const ids = [...new Set(own.map(({ id }) => id))];
  const options = ['--restart', restart, '--time-limit', '600'];
  const results = await server.resultsBehind(make(), ids, options);
  const found = [...results.values()].flatMap((each) => each.checks);
  const outcomes = failing.map((title) => {
    const result = found.find((each) => each.title === title);
    return [title, result?.outcome];
  });
  expect(outcomes).toEqual(failing.map((title) => [title, 'fail']));
});
