import type { AskedForConnected } from '../../ports/repositories/runs/interactions.ts';
import { connectedAnswer } from '../../domain/connections/asked-account.ts';
import { answerPending } from '../interactions.ts';

type AnswerServices = Parameters<typeof answerPending>[0];

const perPass = 100;

/**
 * Answers questions about accounts that are connected by now, so that their runs continue (D-608). In the name of
 * the client or person that connected the account; each in a transaction of its own, which any answer may precede.
 */
export async function answerConnected(services: AnswerServices): Promise<boolean> {
  const asked = await services.store.read.interactions.askedForConnected(perPass);
  let answered = 0;
  for (const question of asked) if (await answerOne(services, question)) answered += 1;
  // Those whose time is over wait for the worker that expires them.
  return asked.length === perPass && answered > 0;
}

async function answerOne(
  services: AnswerServices,
  { connectedBy, sessionId, key, ...scope }: AskedForConnected,
): Promise<boolean> {
  const settled = await answerPending(services, scope, {
    sessionId,
    key,
    body: { answer: connectedAnswer },
    by: { ...connectedBy, requestId: null, address: null },
    allower: { kind: 'client', id: connectedBy.id },
  });
  return settled !== undefined && settled.status !== 'pending';
}
