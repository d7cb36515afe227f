import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../support/agents.ts';
import { answer, begin, ended, logOf, pendingIn, readRun, runIn } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, deployments, startServer } from '../support/server.ts';

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe.each(deployments)('approvals on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });

  const workspaceOf = ({ id }: { id: string }) =>
    join(server.config.dataDir, 'workspaces', server.quickstart.tenant_id, id);
  const written = (session: { id: string }) => readdir(workspaceOf(session));
  const workspaceFile = (session: { id: string }, name: string) =>
    readFile(join(workspaceOf(session), name), 'utf8');

  describe('an approval (D-38, D-39)', () => {
    test('shows the exact input; the tool runs only when it is allowed, with that input', async () => {
      const { session, run } = await begin(server, 'writer', 'exactly this');
      const asked = await pendingIn(server, session.id);
      expect(asked).toMatchObject({
        kind: 'permission',
        tool_name: 'write_file',
        tool_input: { path: 'note.txt', text: 'exactly this' },
      });
      expect(asked).not.toHaveProperty('question');
      expect(await written(session)).not.toContain('note.txt');
      await answer(server, asked, { decision: 'allow' });
      const log = await logOf(server, run);
      expect(log.find(({ type }) => type === 'permission_request')?.data).toEqual({
        request_id: asked.request_id,
        interaction_key: asked.interaction_key,
        tool_name: 'write_file',
        tool_input: { path: 'note.txt', text: 'exactly this' },
        tool_call_id: log.find(({ type }) => type === 'scripted.tool_result')?.data['tool_call_id'],
        rules: [{ source: 'agent', name: 'approval_required_tools' }],
      });
      expect(log.find(({ type }) => type === 'permission_resolved')?.data).toEqual({
        interaction_key: asked.interaction_key,
        decision: 'allow',
      });
      expect(await workspaceFile(session, 'note.txt')).toBe('exactly this');
      expect(log.at(-1)?.type).toBe('run_completed');
    });

    test('denied: the tool does not run, and the agent gets the reason', async () => {
      const { session, run } = await begin(server, 'writer');
      const asked = await pendingIn(server, session.id);
      const denied = await answer(server, asked, { decision: 'deny', message: 'not today' });
      expect(denied).toMatchObject({ decision: 'deny', message: 'not today' });
      const log = await logOf(server, run);
      expect(log.find(({ type }) => type === 'permission_resolved')?.data).toEqual({
        interaction_key: asked.interaction_key,
        decision: 'deny',
        message: 'not today',
      });
      expect(typesOf(log)).not.toContain('scripted.tool_result');
      expect(await written(session)).not.toContain('note.txt');
    });

    test('with updated_input the tool runs with exactly that input', async () => {
      const { session, run } = await begin(server, 'writer', 'as asked');
      const asked = await pendingIn(server, session.id);
      const updated_input = { path: 'note.txt', text: 'as allowed' };
      const allowed = await answer(server, asked, { decision: 'allow', updated_input });
      expect(allowed).toMatchObject({ updated_input, tool_input: { text: 'as asked' } });
      const log = await logOf(server, run);
      expect(log.find(({ type }) => type === 'permission_resolved')?.data).toEqual({
        interaction_key: asked.interaction_key,
        decision: 'allow',
        updated_input,
      });
      expect(await workspaceFile(session, 'note.txt')).toBe('as allowed');
    });

    test('a change of the agent during the wait cannot change the approved call', async () => {
      await server.writeAgent('shifty', usualAgents.writer);
      const { session, run } = await eventually(() => begin(server, 'shifty', 'what was shown'));
      const asked = await pendingIn(server, session.id);
      await server.writeAgent('shifty', {
        ...usualAgents.writer,
        description: 'Changed',
        script: [
          { say: 'x' },
          { tool: { name: 'write_file', input: { path: 'p', text: 'other' } } },
        ],
      });
      await eventually(async () => {
        const { body } = await server.send('list_agents');
        return body.agents.some(({ description }) => description === 'Changed');
      });
      await answer(server, asked, { decision: 'allow' });
      expect(await ended(server, run)).toMatchObject({
        status: 'failed',
        error_code: 'agent_error',
      });
      expect(await written(session)).not.toContain('p');
    });
  });

  describe('across a restart (D-36)', () => {
    test('a pending interaction keeps its key, its run waits, and the answer is applied', async () => {
      const { session, run } = await begin(server, 'writer', 'before the restart');
      const asked = await pendingIn(server, session.id);
      await runIn(server, run, 'waiting');
      server = await server.restart();
      expect(await pendingIn(server, session.id)).toEqual(asked);
      expect(await readRun(server, run)).toMatchObject({
        status: 'waiting',
        pending_interactions: 1,
      });
      await answer(server, asked, { decision: 'allow' });
      const log = await logOf(server, run);
      expect(log.at(-1)).toMatchObject({ type: 'run_completed', data: { run_id: run.id } });
      expect(typesOf(log).filter((type) => type === 'scripted.tool_result')).toHaveLength(2);
      expect(await workspaceFile(session, 'note.txt')).toBe('before the restart');
    });

    test('an answer given right before the server stops is applied by the next one, once', async () => {
      const { session, run } = await begin(server, 'writer', 'just in time');
      const asked = await pendingIn(server, session.id);
      await runIn(server, run, 'waiting');
      await answer(server, asked, { decision: 'allow' });
      server = await server.restart();
      const over = await ended(server, run);
      const log = await logOf(server, run);
      const results = log.filter(({ type }) => type === 'scripted.tool_result');
      const writes = results.filter(({ data }) => data['name'] === 'write_file');
      // Claimed before the stop the run is lost with its worker; claimed after it, it executes. Never twice.
      expect(writes.length).toBe(over.status === 'completed' ? 1 : writes.length);
      expect(writes.length).toBeLessThanOrEqual(1);
      expect(typesOf(log).filter((type) => type === 'permission_resolved')).toHaveLength(1);
    });
  });
});
