import { type RunEvent, formatEventId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, ended, eventsPath, logOf, startRun } from '../support/api-steps.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

describe.each(deployments)('the history of a run on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });

  describe('history as JSON (D-34)', () => {
    const page = async (run: { id: string; session_id: string }, query = {}) => {
      const headers = { accept: 'application/json' };
      const { body } = await server.send('follow_run_events', { params: at(run), query, headers });
      return body ?? { events: [], next_cursor: undefined };
    };

    test('is the same log, page by page', async () => {
      const { run } = await begin(server, 'echo', 'a b c d e');
      const log = await logOf(server, run);
      const pages: RunEvent[][] = [];
      let cursor: string | undefined;
      do {
        const { events, next_cursor } = await page(run, {
          limit: '3',
          ...(cursor === undefined ? {} : { cursor }),
        });
        pages.push(events);
        cursor = next_cursor;
      } while (cursor !== undefined);
      expect(pages.flat()).toEqual(log);
      expect(pages.map(({ length }) => length)).toEqual([3, 3, log.length - 6]);
    });

    test('also starts after Last-Event-ID', async () => {
      const { run } = await begin(server, 'echo');
      const log = await logOf(server, run);
      const { body } = await server.send('follow_run_events', {
        params: at(run),
        headers: { accept: 'application/json', 'last-event-id': formatEventId(2) },
      });
      expect(body?.events).toEqual(log.slice(2));
    });

    test('a cursor is valid for its run only and cannot be forged', async () => {
      const { run } = await begin(server, 'echo');
      const other = (await begin(server, 'echo')).run;
      await Promise.all([ended(server, run), ended(server, other)]);
      const { next_cursor = '' } = await page(run, { limit: '1' });
      expect(next_cursor).not.toBe('');
      const made = `${Buffer.from('5').toString('base64url')}.${next_cursor.split('.')[1]}`;
      for (const [place, cursor] of [
        [other, next_cursor],
        [run, made],
        [run, 'nonsense'],
      ] as const) {
        const refused = await server.refused('follow_run_events', {
          params: at(place),
          query: { cursor },
          headers: { accept: 'application/json' },
        });
        expect(refused).toMatchObject({ status: 400, error: 'invalid_cursor' });
      }
    });

    test('of a run without events is empty', async () => {
      const { session } = await begin(server, 'sleeper');
      const queued = await startRun(server, session, 'x');
      expect(await page(queued)).toEqual({ events: [] });
      await server.send('stop_session', { params: { session_id: session.id } });
    });
  });

  describe('Accept (D-34)', () => {
    const answered = async (accept: string | undefined) => {
      const { run } = await begin(server, 'echo');
      await ended(server, run);
      const headers = Object.entries(server.client);
      if (accept !== undefined) headers.push(['accept', accept]);
      const { status, headers: head } = await sendRaw(server, {
        method: 'GET',
        path: eventsPath(run),
        headers,
      });
      return `${status} ${head.get('content-type')?.split(';')[0]}`;
    };

    test.each([
      [undefined, '200 text/event-stream'],
      ['', '200 text/event-stream'],
      ['*/*', '200 text/event-stream'],
      ['text/event-stream', '200 text/event-stream'],
      ['TEXT/Event-Stream', '200 text/event-stream'],
      ['text/html, text/event-stream;q=0.5', '200 text/event-stream'],
      ['application/json', '200 application/json'],
      ['application/json, text/event-stream;q=0.9', '200 application/json'],
      ['application/json;q=0.1, text/event-stream', '200 text/event-stream'],
      ['application/json, text/event-stream', '200 text/event-stream'],
      ['application/*, text/event-stream;q=0.5', '200 application/json'],
      ['text/event-stream;q=0, */*', '200 application/json'],
      ['text/html', '406 application/json'],
      ['application/xml, image/*', '406 application/json'],
      ['text/event-stream;q=0', '406 application/json'],
    ])('%s → %s', async (accept, expected) => {
      expect(await answered(accept)).toBe(expected);
    });

    test.each(['text/html', 'application/json', 'text/event-stream;q=0'])(
      'an invocation that accepts only %s is 406, and starts nothing',
      async (accept) => {
        const before = (await server.send('list_tenant_runs')).body.runs.length;
        const refused = await server.refused('invoke_agent', {
          params: { agent_name: 'echo' },
          headers: { accept },
          body: { input: { prompt: 'x' } },
        });
        expect(refused).toMatchObject({ status: 406, error: 'not_acceptable' });
        expect((await server.send('list_tenant_runs')).body.runs).toHaveLength(before);
      },
    );

    test('other media types are refused as not_acceptable', async () => {
      const { run } = await begin(server, 'echo');
      const refused = await server.refused('follow_run_events', {
        params: at(run),
        headers: { accept: 'text/html' },
      });
      expect(refused).toMatchObject({ status: 406, error: 'not_acceptable' });
    });
  });
});
