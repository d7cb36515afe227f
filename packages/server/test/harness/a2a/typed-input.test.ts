// A remote agent gets what a run was given: the words as text, and the members beside them as data (D-563).
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../../../test/runner/file-end.ts';
import { ended, openSession } from '../../support/api-steps.ts';
import { startServer } from '../../support/server.ts';
import { A2aServer } from './agent.ts';

const schemas = {
  input_schema: {
    type: 'object',
    properties: {
      ticket: { type: 'integer' },
      steps: { type: 'array' },
      prompt: { type: 'string' },
    },
    required: ['ticket'],
  },
  output_schema: { type: 'object', required: ['team'], properties: { team: { enum: ['tech'] } } },
};

test.each([
  ['1.0', false, (data: object) => ({ data })],
  ['0.3', true, (data: object) => ({ kind: 'data', data })],
] as const)(
  'a remote agent of version %s gets data, and its data is the output',
  async (_, isLegacy, shown) => {
    const remote = await A2aServer.start({ isLegacy });
    atFileEnd(() => remote.close());
    const server = await startServer({
      agents: { remote: { framework: 'a2a', url: remote.url, ...schemas } },
      env: { CONVOKE_A2A_ALLOW: new URL(remote.url).host },
    });
    const { id } = await openSession(server, 'remote');
    const start = async (input: object) => {
      const params = { session_id: id };
      const { body } = await server.send('start_run', { params, body: { input } });
      return ended(server, body);
    };
    const members = { ticket: 7, steps: [{ say: 'Read.' }, { data: { team: 'tech' } }] };
    const run = await start({ ...members, prompt: 'Whose is it?' });
    expect(run).toMatchObject({
      status: 'completed',
      output: { team: 'tech' },
      output_text: 'Read.',
    });
    const [message] = remote.messages;
    expect(message?.parts).toMatchObject([
      { text: expect.stringMatching(/^Whose is it\?/) },
      shown(members),
    ]);
    // What the agent returns is checked as that of any other.
    const wrong = await start({ ticket: 7, steps: [{ data: { team: 'sales' } }] });
    expect(wrong).toMatchObject({ status: 'failed', error_code: 'output_invalid' });
    expect(wrong).not.toHaveProperty('output');
  },
);
