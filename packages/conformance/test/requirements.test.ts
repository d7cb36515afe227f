// D-227: what a client can see has a check, and what it cannot see has a reason.
import { expect, test } from 'vitest';
import { checks, checksOverRestart, checksOverTime } from '../src/checks/all.ts';
import { isOfConvoke, requirements } from '../src/requirements/requirements.ts';
import { wrongs } from './deviations/all.ts';

const idsOf = (list: readonly { readonly id: string }[]) => new Set(list.map(({ id }) => id));

test('every requirement has an id of its own, and a section of the specification', () => {
  expect(idsOf(requirements).size).toBe(requirements.length);
  const sections = new Set(requirements.map(({ section }) => section));
  expect([...sections].toSorted()).toEqual(
    ['1', '2', '3', '4.1', '4.2', '4.3', '5', '6', '7', '8', '9', 'convoke'].toSorted(),
  );
  expect(requirements.filter((each) => !isOfConvoke(each)).length).toBeGreaterThan(110);
});

test('a requirement is proved by requests, or over a restart, or has a reason', () => {
  const [shown, restarted] = [idsOf([...checks, ...checksOverTime]), idsOf(checksOverRestart)];
  for (const { id, visible, reason } of requirements) {
    const proved = [shown.has(id), restarted.has(id), reason !== undefined];
    expect([id, ...proved]).toEqual([
      id,
      visible === 'black-box',
      visible === 'restart',
      visible === 'no',
    ]);
  }
});

test('every check proves a requirement that exists, with a title of its own', () => {
  const known = idsOf(requirements);
  const all = [...checks, ...checksOverTime, ...checksOverRestart];
  expect(all.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
});

// every-check.fault.test.ts has each of them fail.
test('for every check there is a deviation that makes it fail', () => {
  const titles = [...checks, ...checksOverTime, ...checksOverRestart].map(({ title }) => title);
  const failing = wrongs.flatMap((wrong) => wrong.failing);
  expect([...failing].toSorted()).toEqual(titles.toSorted());
});
