import { describe, expect, test } from 'vitest';
import { addressOf, placeAt, placeOfId, safeReturn } from '../../src/data/routes.ts';

test('an address and its place lead to each other, with filters in the query', () => {
  const address = addressOf('runs', { tenant: 'ten_1' }, { status: 'failed', agent: '', q: 'a b' });
  expect(address).toBe('/console/t/ten_1/runs?status=failed&q=a+b');
  const [path = '', search = ''] = address.split('?');
  const place = placeAt(path, search);
  expect(place).toMatchObject({ screen: 'runs', params: { tenant: 'ten_1' } });
  expect(place.query.get('q')).toBe('a b');
});

test('a value inside a path stays one segment', () => {
  const address = addressOf('agent', { tenant: 'ten_1', agent: '../runs/x?y' });
  expect(address).toBe('/console/t/ten_1/agents/..%2Fruns%2Fx%3Fy');
  expect(placeAt(address).params['agent']).toBe('../runs/x?y');
});

test.each(['/console/nothing', '/console/t/a/b/c/d', '/console/t/%E0%A4%A', '/elsewhere'])(
  '%s is an unknown place, not an exception',
  (path) => {
    expect(placeAt(path).screen).toBe('unknown');
  },
);

describe('after a sign-in the page returns only to itself (D-150)', () => {
  test.each([
    null,
    '',
    'https://evil.example/console/',
    '//evil.example/console/',
    '/console/../oidc/sign-out',
    '/console/\\evil.example',
    '/console/callback?code=stolen',
    '/oidc/account',
    '/consoles/',
  ])('%s leads to the start', (kept) => {
    expect(safeReturn(kept)).toBe('/console/');
  });

  test('a page of the console is returned to with its filters', () => {
    expect(safeReturn('/console/t/ten_1/runs?status=failed')).toBe(
      '/console/t/ten_1/runs?status=failed',
    );
  });
});

test('a pasted id names its screen; other text does not', () => {
  expect(placeOfId(' run_01ja3w8z5kq4v7m2x9c6t1r8en ')).toEqual({ screen: 'run', param: 'run' });
  expect(placeOfId('sess_01ja3w8z5kq4v7m2x9c6t1r8en')?.screen).toBe('session');
  expect(placeOfId('running')).toBeUndefined();
  expect(placeOfId('usr_01ja3w8z5kq4v7m2x9c6t1r8en')).toBeUndefined();
});
