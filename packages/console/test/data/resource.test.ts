import { expect, test, vi } from 'vitest';
import { PagedList } from '../../src/data/pages.ts';
import { Resources } from '../../src/data/resource.ts';

test('the last answer stays while the next one is fetched, and after it fails', async () => {
  const resources = new Resources();
  const answers: (() => Promise<string>)[] = [
    async () => 'first',
    async () => {
      throw new Error('away');
    },
  ];
  const read = vi.fn<() => Promise<string>>(() => answers.shift()?.() ?? Promise.resolve('later'));
  const entry = resources.get('runs/1', read);
  await expect.poll(() => entry.data.value).toBe('first');
  await entry.refresh();
  expect(entry.data.value).toBe('first');
  expect(entry.error.value).toBeInstanceOf(Error);
  await entry.refresh();
  expect(entry.data.value).toBe('later');
  expect(entry.error.value).toBeUndefined();
});

test('a burst of notices during a fetch costs one more fetch', async () => {
  const resources = new Resources();
  let release = () => {};
  const read = vi.fn<() => Promise<number>>(
    () =>
      new Promise<number>((resolve) => {
        release = () => resolve(read.mock.calls.length);
      }),
  );
  const entry = resources.get('overview', read);
  for (let notice = 0; notice < 50; notice += 1) resources.refresh('over');
  release();
  await expect.poll(() => read).toHaveBeenCalledTimes(2);
  release();
  await expect.poll(() => entry.isLoading.value).toBe(false);
  expect(read).toHaveBeenCalledTimes(2);
  expect(entry.data.value).toBe(2);
});

test('after sign-out nothing is held, and an answer that was under way is dropped', async () => {
  const resources = new Resources();
  let release = () => {};
  const entry = resources.get(
    'me',
    () =>
      new Promise<string>((resolve) => {
        release = () => resolve('ann');
      }),
  );
  resources.clear();
  release();
  await Promise.resolve();
  expect(entry.data.value).toBeUndefined();
  const other = resources.get('me', async () => 'bob');
  await expect.poll(() => other.data.value).toBe('bob');
});

test('what could not be read is fetched again on request, and nothing else is', async () => {
  const resources = new Resources();
  const reads: string[] = [];
  let isAway = true;
  const read = (key: string) => () => {
    reads.push(key);
    return isAway && key === 'lost' ? Promise.reject(new Error('away')) : Promise.resolve(key);
  };
  const [kept, lost] = ['kept', 'lost'].map((key) => resources.get(key, read(key)));
  await kept?.refresh();
  await lost?.refresh();
  expect(lost?.error.value).toBeInstanceOf(Error);
  reads.length = 0;
  isAway = false;
  resources.retryFailed();
  await lost?.refresh();
  expect(lost?.data.value).toBe('lost');
  expect(reads).not.toContain('kept');
});

test('a list that was read on keeps its later rows when its first page is read again', async () => {
  const rows = Array.from({ length: 6 }, (_, index) => ({ id: String(index), version: 1 }));
  const read = async (cursor: string | undefined) => {
    const from = Number(cursor ?? 0);
    const items = rows.slice(from, from + 2);
    return { items, nextCursor: from + 2 < rows.length ? String(from + 2) : undefined };
  };
  const list = new PagedList(read, ({ id }) => id);
  await list.refresh();
  await list.more();
  expect(list.rows.value?.map(({ id }) => id)).toEqual(['0', '1', '2', '3']);
  rows[0] = { id: '0', version: 2 };
  await list.refresh();
  expect(list.rows.value?.map(({ id, version }) => `${id}/${version}`)).toEqual([
    '0/2',
    '1/1',
    '2/1',
    '3/1',
  ]);
  await list.more();
  expect(list.rows.value).toHaveLength(6);
  expect(list.hasMore.value).toBe(false);
});

test('a row of a later page changes in place, and a row that is not shown changes nothing', async () => {
  const pages = [
    { items: [{ id: '0', state: 'old' }], nextCursor: '1' },
    { items: [{ id: '1', state: 'old' }], nextCursor: undefined },
  ];
  const list = new PagedList(
    async (cursor) => pages[Number(cursor ?? 0)] ?? { items: [], nextCursor: undefined },
    ({ id }) => id,
  );
  list.update('1', (row) => ({ ...row, state: 'new' }));
  expect(list.rows.value).toBeUndefined();
  await list.refresh();
  await list.more();
  list.update('1', (row) => ({ ...row, state: 'new' }));
  list.update('2', (row) => ({ ...row, state: 'new' }));
  await list.refresh();
  expect(list.rows.value).toEqual([
    { id: '0', state: 'old' },
    { id: '1', state: 'new' },
  ]);
});
