import { expect, test } from 'vitest';
import { filtersOf, readViews, withView, withoutView } from '../../src/data/saved-views.ts';

const view = (name: string, query = 'status=failed') => ({ screen: 'runs', name, query });

test('a view is the filters of an address, in one order, without what is open there', () => {
  const one = new URLSearchParams('status=failed&agent=echo&item=int_1&tab=raw&q=');
  const other = new URLSearchParams('agent=echo&status=failed');
  expect(filtersOf(one)).toBe('agent=echo&status=failed');
  expect(filtersOf(one)).toBe(filtersOf(other));
  expect(filtersOf(new URLSearchParams('item=int_1'))).toBe('');
});

test('a view with a known name replaces the old one, and the oldest makes room', () => {
  const views = withView(withView([], view('Red')), view('Red', 'status=waiting'));
  expect(views).toEqual([view('Red', 'status=waiting')]);
  const many = Array.from({ length: 40 }, (_, index) => view(`View ${index}`)).reduce(
    withView,
    views,
  );
  expect(many).toHaveLength(30);
  expect(many.at(-1)).toEqual(view('View 39'));
  expect(withoutView(many, view('View 39')).map(({ name }) => name)).not.toContain('View 39');
});

test('what a browser stored is not trusted', () => {
  const stored = [view('Good'), { screen: 'runs', name: 7 }, null, 'text', view('x'.repeat(41))];
  expect(readViews(stored)).toEqual([view('Good')]);
  expect(readViews({ views: [] })).toEqual([]);
});
