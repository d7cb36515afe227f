import { type RunEvent, eventTypes, formatEventId, isEventType } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AgentYaml, usualAgents } from '../support/agents.ts';
import {
  answer,
  at,
  begin,
  cancel,
  ended,
  eventsPath,
  follow,
  logOf,
  openSession,
  pendingIn,
  readRun,
  startRun,
  textOf,
} from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { NoticeReader } from '../support/notice-reader.ts';
import type { Puppet } from '../support/puppet-harness.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, deployments } from '../support/server.ts';

/** Rewrites its own context files, so the second run finds its context changed. */
const scribe: AgentYaml = {
  description: 'Rewrites its own context',
  context_files: ['docs/STYLE.md'],
  enable_claude_md: true,
  skills: 'all',
  script: [
    { tool: { name: 'write_file', input: { path: 'docs/STYLE.md', text: 'v{{run_number}}' } } },
    { tool: { name: 'write_file', input: { path: 'CLAUDE.md', text: 'v{{run_number}}' } } },
    { emit: { type: 'progress', data: { percent: 100 } } },
    { output: { tidied: 2 } },
  ],
};

const scribeFiles = {
  'scribe/workspace/docs/STYLE.md': 'Be brief.',
  'scribe/workspace/CLAUDE.md': 'Be kind.',
  'scribe/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Tidies up\n---\nTidy.\n',
  'scribe/skills/broken/SKILL.md': 'no front matter',
};

const json = { accept: 'application/json' };

/** What JavaScript, terminals or server-sent events take for the end of a line. */
const hostile = 'a\u2028event: b\u2029event: c\r\nevent: d\n\nid: 9\rdata: e\u0085event: f';

/** The data of a stream in which each block is exactly one frame of this form. */
function eventsIn(stream: string, names: 'on' | 'off'): unknown[] {
  const blocks = stream.split('\n\n').slice(0, -1);
  return blocks.map((block, index) => {
    const lines = block.split('\n');
    if (index === 0) expect(lines.shift()).toBe('retry: 2000');
    const fields = lines.map((line) => line.slice(0, line.indexOf(':')));
    expect(fields).toEqual(names === 'on' ? ['id', 'event', 'data'] : ['id', 'data']);
    return JSON.parse(lines.at(-1)?.slice('data: '.length) ?? '');
  });
}

describe.each(deployments)('run events on %s', (database) => {
  let server: TestServer;
  let puppet: Puppet;
  beforeAll(async () => {
    const agents = { ...usualAgents, scribe };
    const options = { database, agents, agentFiles: scribeFiles };
    ({ server, puppet } = await startPuppetServer(options));
  });

  describe('the envelope (spec §6, D-02, D-03)', () => {
    test('has ids from 1 without gaps, padded for text order, and times that never decrease', async () => {
      const { session, run } = await begin(server, 'echo', 'one two three');
      const frames = await (await follow(server, run)).all();
      expect(frames.map(({ id }) => id)).toEqual(
        frames.map((_, index) => formatEventId(index + 1)),
      );
      for (const { id, event, data } of frames) {
        expect(data).toMatchObject({ id, type: event, session_id: session.id, run_id: run.id });
        expect(data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
      const times = frames.map(({ data }) => data.created_at);
      expect(times).toEqual(times.toSorted());
      expect((await readRun(server, run)).last_event_id).toBe(frames.at(-1)?.id);
    });

    test('the deltas join to the exact text (D-35)', async () => {
      const prompt = '  zwei  Wörter\n\tund 🙂🙂 \u0000 \ud83d half, \u2028 Ende  ';
      const { run } = await begin(server, 'echo', prompt);
      const log = await logOf(server, run);
      expect(textOf(log)).toBe(`${prompt} (run 1)`);
      expect((await readRun(server, run)).output_text).toBe(`${prompt} (run 1)`);
    });
  });

  describe('the types (spec §6, D-39)', () => {
    test('every type of the specification occurs, with exactly its declared payload', async () => {
      const seen = new Map<string, RunEvent[]>();
      for (const event of await everything()) {
        seen.set(event.type, [...(seen.get(event.type) ?? []), event]);
      }
      // Not in the specification: workers/continue-runs.test.ts has interruptions, execution/rules.test.ts decisions,
      // http/approvers.test.ts approvals, http/connected-agents.alone.test.ts accounts, and execution/waits.test.ts
      // waits.
      const ofWaits = ['wait_started', 'wait_ended'];
      const ofRules = ['call_decided', 'permission_approved'];
      const own = ['run_interrupted', 'connection_used', ...ofRules, ...ofWaits];
      const specified = Object.keys(eventTypes).filter((type) => !own.includes(type));
      expect([...seen.keys()].filter(isEventType).sort()).toEqual(specified.sort());
      for (const [type, events] of seen) {
        if (!isEventType(type)) continue;
        for (const { data } of events) expect(eventTypes[type].data.parse(data)).toEqual(data);
      }
    });

    /** Runs that together emit every event type. */
    async function everything(): Promise<RunEvent[]> {
      const scribbling = await openSession(server, 'scribe');
      const first = await logOf(server, await startRun(server, scribbling, 'x'));
      const second = await logOf(server, await startRun(server, scribbling, 'x'));
      const failed = await logOf(server, (await begin(server, 'failing')).run);
      const asking = await begin(server, 'asker');
      await answer(server, await pendingIn(server, asking.session.id), { answer: 'red' });
      const writing = await begin(server, 'writer');
      await answer(server, await pendingIn(server, writing.session.id), { decision: 'allow' });
      const sleeping = await begin(server, 'sleeper');
      await cancel(server, sleeping.run);
      const others = await Promise.all(
        [asking, writing, sleeping].map(({ run }) => logOf(server, run)),
      );
      return [...first, ...second, ...failed, ...others.flat()];
    }

    test('context is announced before the first message, and again with the previous digest when it changed', async () => {
      const session = await openSession(server, 'scribe');
      const first = await logOf(server, await startRun(server, session, 'x'));
      const second = await logOf(server, await startRun(server, session, 'x'));
      expect(first.map(({ type }) => type).slice(0, 4)).toEqual([
        'run_started',
        'context_file_loaded',
        'claude_md_loaded',
        'agent_skills_loaded',
      ]);
      expect(second.map(({ type }) => type).slice(0, 4)).toEqual([
        'run_started',
        'context_file_changed',
        'claude_md_changed',
        'agent_skills_loaded',
      ]);
      expect(first[1]?.data).toMatchObject({ path: 'docs/STYLE.md', size_bytes: 9 });
      expect(second[1]?.data).toMatchObject({
        path: 'docs/STYLE.md',
        size_bytes: 2,
        previous_sha256: first[1]?.data['sha256'],
      });
      expect(first[3]?.data).toMatchObject({
        skills: [{ name: 'tidy', description: 'Tidies up' }],
        warnings: [{ directory: 'skills/broken' }],
      });
    });

    test('a framework has types under its own name, which never end a run (spec §6 rule 5)', async () => {
      const { run } = await begin(server, 'scribe');
      const log = await logOf(server, run);
      const [own, next] = log.slice(log.findIndex(({ type }) => type === 'scripted.progress'));
      expect(own?.data).toEqual({ percent: 100 });
      expect([next, log.at(-1)].map((event) => event?.type)).toEqual([
        'run_output',
        'run_completed',
      ]);
    });
  });

  describe('replay (spec §6 rule 2, D-32)', () => {
    test('starts strictly after any id, and is identical byte for byte', async () => {
      const { run } = await begin(server, 'asker');
      await answer(server, await pendingIn(server, run.session_id), { answer: 'blue' });
      const whole = await (await follow(server, run)).all();
      expect(whole.length).toBeGreaterThan(5);
      for (const [index, { id }] of whole.slice(0, -1).entries()) {
        const rest = await (await follow(server, run, id)).all();
        expect(rest.map(({ text }) => text)).toEqual(
          whole.slice(index + 1).map(({ text }) => text),
        );
      }
    });

    test('after the terminal event there is no stream: 204 as a stream, an empty page as JSON', async () => {
      const { run } = await begin(server, 'echo');
      const { last_event_id = '' } = await ended(server, run);
      const over = (accept: string) =>
        server.send('follow_run_events', {
          params: at(run),
          headers: { accept, 'last-event-id': last_event_id },
        });
      expect(await over('text/event-stream')).toMatchObject({ status: 204, text: '' });
      expect(await over('application/json')).toMatchObject({ status: 200, body: { events: [] } });
    });

    test('after the newest event of a run that has not ended there is a stream', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const reader = await follow(server, run, formatEventId(1));
      leg.end();
      expect((await reader.all()).map(({ event }) => event)).toEqual(['run_completed']);
    });

    test('an empty Last-Event-ID counts as absent', async () => {
      const { run } = await begin(server, 'echo');
      const whole = await (await follow(server, run)).all();
      expect(await (await follow(server, run, '')).all()).toEqual(whole);
    });

    test.each(['abc', '1', '-00000000001', '0000000000001', '000000000000', '00000000000a', '1e3'])(
      'a Last-Event-ID of %s is refused, as a stream and as JSON',
      async (id) => {
        const { run } = await begin(server, 'echo');
        await ended(server, run);
        for (const accept of ['text/event-stream', 'application/json']) {
          const refused = await server.refused('follow_run_events', {
            params: at(run),
            headers: { accept, 'last-event-id': id },
          });
          expect(refused).toMatchObject({ status: 400, error: 'invalid_last_event_id' });
        }
      },
    );

    test('a Last-Event-ID beyond the log is refused, never read as "from now on"', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const beyond = { params: at(run), headers: { 'last-event-id': formatEventId(2) } };
      const refused = await server.refused('follow_run_events', beyond);
      expect(refused).toMatchObject({ status: 400, error: 'invalid_last_event_id' });
      expect(refused.message).toContain('000000000001');
      leg.say('now it is there');
      await (await follow(server, run)).until('message_delta');
      const reader = await follow(server, run, formatEventId(2));
      leg.end();
      expect((await reader.all()).map(({ event }) => event)).toEqual(['run_completed']);
    });
  });

  describe('following (D-30, D-31)', () => {
    test('sends retry in the block of the first event, then frames, with the headers of a stream', async () => {
      const { run } = await begin(server, 'echo');
      const reader = await server.stream(eventsPath(run), {
        headers: { 'accept-encoding': 'gzip, br' },
      });
      await reader.all();
      expect(reader.asides).toEqual(['retry: 2000']);
      const accept = { accept: 'text/event-stream' };
      const { text } = await server.call('GET', eventsPath(run), { headers: accept });
      const frames = reader.frames.map((frame) => `${frame.text}\n\n`);
      // Spec §6: each block is one event.
      expect(text).toBe(`retry: 2000\n${frames.join('')}`);
      expect(reader.torn).toBe('');
      const head = Object.fromEntries(reader.headers);
      expect(head).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      expect(head).not.toHaveProperty('content-encoding');
    });

    test('without names, the frames are the same except for the event line', async () => {
      const { run } = await begin(server, 'failing');
      const named = await (await follow(server, run)).all();
      const read = async (path: string, method: 'GET' | 'POST' = 'GET') => {
        const body = method === 'GET' ? {} : { body: { input: { prompt: 'x' } } };
        const accept = { accept: 'text/event-stream' };
        return (await server.call(method, path, { headers: accept, ...body })).text;
      };
      const lines = named.map(({ text }) => text.replace(/^event: .*\n/m, ''));
      const whole = `retry: 2000\n${[...lines, ''].join('\n\n')}`;
      expect(await read(`${eventsPath(run)}?event_names=off`)).toBe(whole);
      expect(await read(`${eventsPath(run)}?event_names=on`)).toContain('\nevent: error\n');
      const invoked = await read('/v1/agents/failing/runs?event_names=off', 'POST');
      expect(invoked).toContain('"type":"error"');
      expect(invoked).not.toMatch(/^event:/m);
    });

    test.each(['on', 'off'] as const)(
      'text with line and paragraph separators, CR and LF changes no frame, with names %s (spec §6)',
      async (names) => {
        const query = `?event_names=${names}`;
        const headers = { accept: 'text/event-stream' };
        const body = {
          input: { prompt: hostile },
          labels: { hostile: 'a\u2028event: b\u2029id: c' },
        };
        const newest = { query: { from: 'newest' }, headers: json };
        const { last_event_id } = (await server.send('follow_tenant_events', newest)).body;
        const after = last_event_id === undefined ? {} : { 'last-event-id': last_event_id };
        const invoked = await server.call('POST', `/v1/agents/echo/runs${query}`, {
          headers,
          body,
        });
        const at = invoked.headers.get('location') ?? '';
        const replayed = await server.call('GET', `${at}${query}`, { headers });
        expect(replayed.text).toBe(invoked.text);
        const { events } = JSON.parse((await server.call('GET', at, { headers: json })).text);
        expect(eventsIn(invoked.text, names)).toEqual(events);
        expect(textOf(events)).toContain(hostile);

        const notices = await eventually(async () => {
          const told = await server.send('follow_tenant_events', {
            headers: { ...json, ...after },
          });
          const page = told.body;
          return page.events.some(({ type }) => type === 'run_completed') ? page : undefined;
        });
        const feed = new NoticeReader(
          await server.fetch('GET', `/v1/events${query}`, { headers: { ...headers, ...after } }),
        );
        await feed.untilCursor(notices.last_event_id ?? '');
        await feed.close();
        const told = `retry: 2000\n${feed.frames.join('\n\n')}\n\n`;
        expect(eventsIn(told, names)).toEqual(notices.events);
      },
    );

    test('every reader gets every event as it happens, in the same bytes, whenever it joined', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const early = [await follow(server, run), await follow(server, run)];
      leg.say('one');
      for (const reader of early) await reader.until('message_delta');
      const late = await follow(server, run);
      leg.say('two');
      leg.end();
      const texts = await Promise.all(
        [...early, late].map(async (reader) => (await reader.all()).map(({ text }) => text)),
      );
      expect(texts[0]).toHaveLength(4);
      expect(texts[1]).toEqual(texts[0]);
      expect(texts[2]).toEqual(texts[0]);
    });

    test('a run in the queue is followed from before its start', async () => {
      const { session } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const queued = await startRun(server, session, 'next');
      const reader = await follow(server, queued);
      leg.end();
      (await puppet.leg()).end();
      await reader.all();
      expect(reader.types()).toEqual(['run_started', 'run_completed']);
    });

    test('ten thousand events arrive in order and without a gap', async () => {
      const { run } = await begin(server, 'puppet');
      const leg = await puppet.leg();
      const reader = await follow(server, run);
      const count = 10_000;
      for (let index = 0; index < count; index += 1) leg.say(`${index} `);
      leg.end();
      const frames = await reader.all();
      expect(frames).toHaveLength(count + 2);
      expect(frames.every(({ id }, index) => id === formatEventId(index + 1))).toBe(true);
      expect(textOf(frames.map(({ data }) => data))).toBe(
        Array.from({ length: count }, (_, index) => `${index} `).join(''),
      );
    });
  });
});
