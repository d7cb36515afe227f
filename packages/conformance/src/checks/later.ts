import type { LaterCheck } from '../check.ts';
import { same } from '../failure.ts';
import { textAt } from '../fields.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { sessionPath } from '../steps.ts';

/** What needs time, or other requests, between its two halves (D-489). */
export const laterChecks: readonly LaterCheck[] = [
  {
    id: '4.2-key-later',
    title: 'keys from the beginning name the same session and run at the end',
    async before(kit) {
      const opening = { agent_name: kit.agentNames.echo, idempotency_key: newKey() };
      const open = async () =>
        textAt(hasStatus(await kit.app.post('/v1/sessions', opening), 200, 201).body, 'id');
      const session = await open();
      const starting = { input: kit.steps.input('Hello'), idempotency_key: newKey() };
      const start = async () => {
        const reply = await kit.app.post(sessionPath(session, '/runs'), starting);
        return textAt(hasStatus(reply, 200, 201, 202).body, 'id');
      };
      const run = await start();
      return async () => {
        same(await open(), session, 'the session');
        same(await start(), run, 'the run');
      };
    },
  },
];
