import { expect, test } from 'vitest';
import { openSession } from '../support/api-steps.ts';
import { startServer } from '../support/server.ts';
import { place } from './file-steps.ts';

test('a session holds a bounded number of files', async () => {
  const server = await startServer();
  const session = await openSession(server, 'echo');
  const params = { session_id: session.id };
  const prepare = () =>
    server.call('POST', `/v1/sessions/${session.id}/files`, { body: { name: 'a' } });
  for (let made = 0; made < 1000; made += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, prepare));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  }
  const refused = await server.refused('prepare_file', { params, body: { name: 'one more' } });
  expect(refused).toMatchObject({ status: 409, error: 'file_limit_reached' });
  const url = 'data:text/plain,x';
  const parts = [{ type: 'file', mediaType: 'text/plain', filename: 'a.txt', url }];
  const message = { messages: [{ id: 'm', role: 'user', parts }] };
  expect(await server.refused('send_ui_message', { params, body: message })).toMatchObject({
    status: 409,
    error: 'file_limit_reached',
  });
  const { body } = await server.send('list_files', { params, query: { limit: '1' } });
  const [file] = body.files;
  if (file === undefined) throw new Error('there are files');
  await server.send('delete_file', { params: place(file) });
  await server.send('prepare_file', { params, body: { name: 'one more' } });
});
