import { describe, expect, test } from 'vitest';
import {
  flag,
  jsonText,
  made,
  nounTable,
  number,
  text,
  writtenOnly,
} from '../../src/store/columns.ts';
import { renderSql } from '../../src/store/sql.ts';

interface Point {
  readonly id: string;
  readonly name: string | null;
  readonly isOpen: boolean;
  readonly at: { readonly x: number; readonly y: number } | null;
  readonly moves: number;
  readonly tags: readonly string[] | null;
}

const points = nounTable<Point>('points', {
  fields: {
    id: text('id', 'fixed'),
    name: text('name'),
    isOpen: flag('is_open'),
    at: made(
      {
        x: { kind: 'bigint', write: ({ at }) => at?.x ?? null },
        y: { kind: 'bigint', write: ({ at }) => at?.y ?? null },
      },
      ({ x, y }: { x: number | null; y: number | null }) =>
        x === null || y === null ? null : { x, y },
    ),
    moves: number('moves', 'changed'),
    tags: jsonText('tags'),
  },
  extra: writtenOnly<Point>({
    is_far: { kind: 'bigint', write: ({ at }) => ((at?.x ?? 0) > 9 ? 1 : 0) },
  }),
});

const point: Point = {
  id: 'p1',
  name: 'A',
  isOpen: true,
  at: { x: 10, y: 2 },
  moves: 3,
  tags: ['\ud800'],
};
const tagsText = '["\\ud800"]';

describe('the table of a noun', () => {
  test('reads each field from its columns', () => {
    const row = {
      id: 'p1',
      name: 'A',
      is_open: 1,
      x: 10,
      y: 2,
      moves: 3,
      tags: tagsText,
      is_far: 1,
    };
    expect(points.read(row)).toEqual(point);
    const empty = { ...row, name: null, is_open: 0, x: null, tags: null };
    expect(points.read(empty)).toEqual({
      ...point,
      name: null,
      isOpen: false,
      at: null,
      tags: null,
    });
  });

  test('inserts what a new one has, and leaves the rest to the defaults', () => {
    const { strings, values } = points.insert(point);
    expect(renderSql(strings, 'postgres')).toBe(
      'insert into points (id, name, is_open, x, y, tags, is_far) values ($1, $2, $3, $4, $5, $6, $7)',
    );
    expect(values).toEqual(['p1', 'A', 1, 10, 2, tagsText, 1]);
  });

  test('inserts several with one statement', () => {
    const { strings, values } = points.insertAll([point, { ...point, id: 'p2' }]);
    expect(renderSql(strings, 'sqlite')).toContain(
      'values (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)',
    );
    expect(values).toHaveLength(14);
    expect(values[7]).toBe('p2');
  });

  test('names the columns that it reads, and not those that are only written', () => {
    const { strings } = points.columns;
    expect(strings).toEqual(['id, name, is_open, x, y, moves, tags']);
  });

  test('selects the same values with their types, for an insert under a condition', () => {
    const { strings, values } = points.insertSelected(point);
    expect(renderSql(strings, 'sqlite')).toContain('select cast(? as text), cast(? as text)');
    expect(values).toEqual(points.insert(point).values);
  });

  test('updates what may change', () => {
    const { strings, values } = points.assignments({ ...point, at: null });
    expect(renderSql(strings, 'postgres')).toBe(
      'name = $1, is_open = $2, x = $3, y = $4, moves = $5, tags = $6, is_far = $7',
    );
    expect(values).toEqual(['A', 1, null, null, 3, tagsText, 0]);
  });

  test('has the same text each time, so that a database prepares it once', () => {
    expect(points.insert(point).strings).toBe(points.insert(point).strings);
    expect(points.assignments(point).strings).toBe(points.assignments(point).strings);
  });
});
