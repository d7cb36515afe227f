import { createHmac } from 'node:crypto';
import { runId } from '@convoke/contract';
import type { TestServer } from './server.ts';

/** The token of a callback URL, as the kit of a run's agent makes it. */
export function callbackTokenOf(server: TestServer, run: { readonly id: string }, name = 'paid') {
  const { key } = server.convoke.services.callbacks.ofRun(runId(run.id));
  return madeWith(key, { run: run.id, name, number: 'AAAAAAAAAAAAAAAA' });
}

export function madeWith(
  key: string,
  { run, name, number }: { readonly run: string; readonly name: string; readonly number: string },
): string {
  const proven = `${name}.${number}`;
  const mac = createHmac('sha256', Buffer.from(key, 'base64url')).update(proven);
  return `${run}.${proven}.${mac.digest('base64url').slice(0, 32)}`;
}
