import { expect, test } from 'vitest';
import { files, textOf } from '../../../test/repository.ts';

const invariants = Array.from(
  textOf('packages/agent/DESIGN.md').matchAll(/^\| (L\d+) \|/gm),
  ([, number]) => number,
);

test.each([
  ['TypeScript', /^packages\/agent\/src\/.*\.ts$/],
  ['Python', /^packages\/agent-python\/convoke_agent\/.*\.py$/],
])('the kit in %s cites every invariant of its design, and no other', (_kit, sources) => {
  const cited = files(sources).flatMap((path) =>
    Array.from(textOf(path).matchAll(/\bL\d+\b/g), ([number]) => number),
  );
  expect(new Set(cited)).toEqual(new Set(invariants));
});
