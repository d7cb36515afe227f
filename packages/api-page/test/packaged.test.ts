import { expect, test } from 'vitest';
import { packagedGuides } from '../src/guides/packaged.ts';

const guides = packagedGuides();

test('packages have the guides about using the service', () => {
  const names = [...guides.keys()];
  expect(names).toEqual(expect.arrayContaining(['start.md', 'concepts.md', 'agents-as-code.md']));
  expect(names).not.toContain('operate.md');
});

test.each([...guides])('every link of %s leads to another of them', (_, text) => {
  const links = Array.from(text.matchAll(/\]\(([^)#\s]+)/g), ([, target = '']) => target);
  const own = links.filter((target) => !/^https?:/.test(target));
  expect(own.filter((target) => !guides.has(target))).toEqual([]);
});
