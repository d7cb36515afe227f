import { expect, test } from 'vitest';
import { egressTo, readEgress } from '../../src/domain/egress.ts';

const entries = ['api.example.com', '*.example.org', 'db.internal:5432', '10.0.0.7', '[::1]:8080'];
const list = entries.flatMap((entry) => readEgress(entry) ?? []);

test.each<[string, number, boolean]>([
  ['api.example.com', 443, true],
  ['API.Example.com.', 80, true],
  ['api.example.com', 8443, false],
  ['example.com', 443, false],
  ['evil-api.example.com', 443, false],
  ['api.example.com.evil.net', 443, false],
  ['a.b.example.org', 443, true],
  ['example.org', 443, false],
  ['notexample.org', 443, false],
  ['db.internal', 5432, true],
  ['db.internal', 443, false],
  ['10.0.0.7', 443, true],
  ['10.0.0.70', 443, false],
  ['::1', 8080, true],
  ['[::1]', 8080, true],
])('an agent with a list may reach %s:%d: %s', (host, port, allowed) => {
  expect(egressTo(list, host, port) !== undefined).toBe(allowed);
});

test.each([
  '',
  '*',
  '*.com',
  'http://example.com',
  'example.com/path',
  'example.com:0',
  'example.com:65536',
  'user@example.com',
  'a b',
  '-x',
])('"%s" is no entry of a list', (entry) => {
  expect(readEgress(entry)).toBeUndefined();
});
