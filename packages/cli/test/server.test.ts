import { expect, test } from 'vitest';
import { isInRange } from '../../agent/src/versions/range.mjs';
import serverManifest from '../../server/package.json' with { type: 'json' };
import { problemWithNode } from '../src/server.ts';

test.each([
  '20.20.2',
  '22.22.0',
  '24.18.0',
  '24.18.1',
  '24.21.0',
  '25.9.0',
  '26.5.0',
  '26.5.1',
  '27.0.0',
])('whether the server runs on Node %s is what its manifest says', (version) => {
  const isSuitable = isInRange(version, serverManifest.engines.node);
  expect(problemWithNode(version) === undefined).toBe(isSuitable);
});

test('a Node that is too old is answered in one line, with what to do', () => {
  expect(problemWithNode('20.20.2')).toMatch(
    /^Convoke's server needs Node 24\.18\.1 or newer; this is 20\.20\.2\. Get it from .*$/,
  );
  expect(problemWithNode('25.9.0')).toContain('needs Node 26.5.1 or newer');
});
