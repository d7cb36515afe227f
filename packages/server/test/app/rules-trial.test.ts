import { organizationId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { type RuleTrial, tryRules } from '../../src/app/rules/try-rules.ts';
import type { Store } from '../../src/ports/store.ts';
import { begin, ended } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { startServer } from '../support/server.ts';

const mebibyte = 1024 * 1024;
const files = 12;
const text = 'x'.repeat(0.2 * mebibyte);
const agents = {
  writer: {
    description: 'Writes large files',
    script: Array.from({ length: files }, (_, at) => ({
      tool: { name: 'write_file', input: { path: `${at}.txt`, text: '{{prompt}}' } },
    })),
  },
};

test.each(databaseKinds)(
  'a trial of rules lets others have a turn between its reads and decisions (D-526, %s)',
  async (database) => {
    const server = await startServer({ database, agents });
    await ended(server, (await begin(server, 'writer', text)).run);
    const { services } = server.convoke;
    const organization = organizationId(server.quickstart.organization_id);

    /** Bytes of the inputs that were read at once. */
    const reads: number[] = [];
    const { pastCalls } = services.store.read;
    const calls: typeof pastCalls.calls = async (...asked) => {
      const page = await pastCalls.calls(...asked);
      reads.push(page.calls.reduce((sum, { bytes }) => sum + bytes, 0));
      return page;
    };
    const wrapped = { ...pastCalls, calls };
    const get = (read: Store['read'], name: string) =>
      name === 'pastCalls' ? wrapped : (Reflect.get(read, name) as unknown);
    const read = new Proxy(services.store.read, { get });
    const store: Store = Object.create(services.store, { read: { value: read } });
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    /** Turns of the event loop in which something was decided. */
    const turns = new Set<number>();
    /** Tries with decisions that each take so long. */
    const attempt = (seconds: number, after?: string): Promise<RuleTrial> => {
      let now = 0;
      const metrics = Object.create(services.metrics, {
        seconds: {
          value: () => {
            turns.add(turn);
            return (now += seconds);
          },
        },
      });
      turns.clear();
      return tryRules({ ...services, store, metrics }, organization, { rules: [], after });
    };

    expect(await attempt(0)).toMatchObject({ calls: files, end: undefined });
    expect(reads.length).toBeGreaterThan(2);
    for (const bytes of reads) expect(bytes).toBeLessThanOrEqual(mebibyte);
    expect(turns.size).toBeLessThanOrEqual(reads.length);
    expect(await attempt(0.006)).toMatchObject({ calls: files, end: undefined });
    expect(turns.size).toBeGreaterThanOrEqual(files / 2);

    // A page whose time is over continues behind its last call.
    let [tried, pages] = [0, 0];
    for (let after: string | undefined = ''; after !== undefined; pages += 1) {
      const page: RuleTrial = await attempt(0.7, after === '' ? undefined : after);
      tried += page.calls;
      after = page.end;
    }
    expect(tried).toBe(files);
    expect(pages).toBeGreaterThan(2);
    isOver = true;
  },
);
