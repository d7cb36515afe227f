import type { RunRecord } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, ended, openSession, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, startServer } from '../support/server.ts';

interface Given {
  readonly key: string;
  readonly score?: number;
}

/** By the run: what was said about each. */
const opinions: readonly (readonly Given[])[] = [
  [],
  [{ key: 'rating', score: 1 }],
  [{ key: 'rating', score: -1 }],
  [{ key: 'rating' }],
  [{ key: 'other', score: -1 }],
  [
    { key: 'rating', score: 1 },
    { key: 'rating', score: -1 },
  ],
  [
    { key: 'rating', score: 0.25 },
    { key: 'other', score: 9 },
  ],
];

const queries: readonly Readonly<Record<string, string>>[] = [
  { feedback: 'rating' },
  { feedback: 'other' },
  { feedback: 'nothing' },
  { feedback: 'rating', score_max: '0' },
  { feedback: 'rating', score_min: '0.25' },
  { feedback: 'rating', score_min: '-0.5', score_max: '0.5' },
  { feedback: 'rating', score_min: '1', score_max: '1' },
  { feedback: 'other', score_max: '-1e0' },
  { feedback: 'rating', status: 'completed', score_max: '0' },
  { feedback: 'rating', status: 'failed' },
  { feedback: 'rating', label: 'team:a' },
  { feedback: 'rating', label: 'team:a', score_min: '1' },
];

describe.each(databaseKinds)('runs by their feedback on %s', (database) => {
  let server: TestServer;
  let runs: RunRecord[];
  beforeAll(async () => {
    server = await startServer({ database });
    const session = await openSession(server, 'echo');
    runs = [];
    for (const [index, given] of opinions.entries()) {
      const run = await ended(server, await startRun(server, session, 'hi'));
      runs.push(run);
      if (index % 2 === 1) {
        await server.send('update_run', { params: at(run), body: { labels: { team: 'a' } } });
      }
      for (const [author, { key, ...rest }] of given.entries()) {
        const body = { comment: 'x', end_user: `u-${author}`, ...rest };
        await server.send('put_feedback', { params: { ...at(run), key }, body });
      }
    }
  });

  /** The ids of the runs that a query names, without the service. */
  function expected(query: Readonly<Record<string, string>>): string[] {
    const { feedback, score_min: min = '-Infinity', score_max: max = 'Infinity', status } = query;
    const isBounded = 'score_min' in query || 'score_max' in query;
    const isGiven = ({ key, score }: Given) =>
      key === feedback &&
      (!isBounded || (score !== undefined && score >= Number(min) && score <= Number(max)));
    return runs
      .filter((_, index) => opinions[index]?.some(isGiven) === true)
      .filter((run) => status !== 'failed' && (!('label' in query) || runs.indexOf(run) % 2 === 1))
      .map(({ id }) => id)
      .toReversed();
  }

  test.each(queries)('%o selects those that have it, page by page (D-580)', async (query) => {
    const wanted = expected(query);
    const { body } = await server.send('list_tenant_runs', { query });
    expect(body.runs.map(({ id }) => id)).toEqual(wanted);
    const paged: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = cursor === undefined ? {} : { cursor };
      const { body: part } = await server.send('list_tenant_runs', {
        query: { ...query, ...page, limit: '1' },
      });
      paged.push(...part.runs.map(({ id }) => id));
      cursor = part.next_cursor;
      if (cursor === undefined) break;
    }
    expect(paged).toEqual(wanted);
  });

  test('bounds that no score can meet are refused (D-580)', async () => {
    const refused: readonly Readonly<Record<string, string>>[] = [
      { score_min: '1' },
      { score_max: '1' },
      { feedback: 'Rating' },
      { feedback: 'rating', score_min: '1', score_max: '0' },
      ...['', 'x', 'NaN', 'Infinity', '1e10', '0x1', ' 1'].map((score_min) => ({
        feedback: 'rating',
        score_min,
      })),
    ];
    for (const query of refused) {
      const answer = await server.refused('list_tenant_runs', { query });
      expect({ query, ...answer }).toMatchObject({ status: 400, error: 'invalid_query' });
    }
  });
});
