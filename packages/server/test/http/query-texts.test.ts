import {
  type Operation,
  type OperationId,
  isRepeatable,
  operationList,
  pathParams,
} from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { pathOf } from '../support/checked-calls.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** Text that PostgreSQL cannot hold, also behind what some filters begin with. */
const broken = ['\u0000', 'k:\u0000', 'label:k\u0000', 'a\u0000b'];

const filters = operationList.flatMap((operation) =>
  Object.keys(operation.query?.shape ?? {}).map((name) => ({ operation, name })),
);
const places = operationList.flatMap((operation) =>
  pathParams(operation.path).map((name) => ({ operation, name })),
);

// D-71, D-72: text that a database column cannot hold is refused where it enters, whatever the database.
describe('a NUL in a request', () => {
  test.each(filters)('is no value of the filter $name of $operation.id', ({ operation, name }) => {
    const schema = operation.query?.shape[name];
    const sent = (text: string) =>
      operation.query !== undefined && isRepeatable(operation.query, name) ? [text] : text;
    for (const text of broken) expect(schema?.safeParse(sent(text)).success).toBe(false);
  });

  test.each(places)('is no $name in the path of $operation.id', ({ operation, name }) => {
    for (const text of broken)
      expect(operation.params?.[name]?.safeParse(text).success).toBe(false);
  });

  describe.each(databaseKinds)('with %s', (database) => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer({ database });
    });

    test('is 400 in every filter, and 404 in every path', async () => {
      const ask = async (operation: Operation, call: { params?: object; query?: string }) => {
        const params = { ...ids(operation), ...call.params };
        const path = pathOf(operation.id as OperationId, { ...call, params });
        const { status, text } = await server.call(operation.method, path);
        return [status, text];
      };
      for (const { operation, name } of filters) {
        const query = new URLSearchParams({ [name]: name === 'label' ? 'k:\u0000' : '\u0000' });
        const [status, text] = await ask(operation, { query: query.toString() });
        expect(status, `${operation.id} ${name}: ${text}`).toBe(400);
      }
      const reads = places.filter(
        ({ operation, name }) =>
          operation.method === 'GET' &&
          // The gate answers for the tenant that a path selects: 403.
          name !== 'organization_id' &&
          !(operation.selectors === 'path' && name === 'tenant_id'),
      );
      for (const { operation, name } of reads) {
        const [status, text] = await ask(operation, { params: { [name]: 'a\u0000b' } });
        expect(status, `${operation.id} ${name}: ${text}`).toBe(404);
      }
    });

    const ids = ({ path }: Operation) => ({
      ...Object.fromEntries(pathParams(path).map((name) => [name, 'x'])),
      organization_id: server.quickstart.organization_id,
      ...(/^\/v1\/(a2a|mcp)\//.test(path) && { tenant_id: server.quickstart.tenant_id }),
    });
  });
});
