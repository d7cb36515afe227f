import type { OperationCall } from './checked-calls.ts';
import type { TestServer } from './server.ts';
import type { TenantData } from './tenant-data.ts';

/** Gives feedback on the run of a tenant. */
export function onFeedback({ as, ids }: TenantData): OperationCall {
  return { as, params: { ...ids, key: 'valid' }, body: { score: 1 } };
}

/** Names feedback that was just given. */
export async function givenFeedback(server: TestServer, data: TenantData): Promise<OperationCall> {
  const call = onFeedback(data);
  await server.send('put_feedback', call);
  return { ...call, body: undefined };
}
