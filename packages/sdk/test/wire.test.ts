import { readFile } from 'node:fs/promises';
import type * as contract from '@convoke/contract';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { formatted } from '../scripts/format.ts';
import { wireFiles } from '../scripts/wire.ts';
import type {
  AddCredential,
  AgentRecord,
  Answer,
  CallerRecord,
  CancelRun,
  ClientRecord,
  Convoke,
  CreateClient,
  CreateTenant,
  CredentialRecord,
  ErrorCode,
  EventDataByType,
  FileRecord,
  InteractionRecord,
  IssuedClient,
  IssuedCredential,
  JsonObject,
  OffboardTenant,
  PrepareFile,
  ProfileCatalog,
  Run,
  RunEvent,
  RunHandle,
  RunRecord,
  ScheduleFire,
  ScheduleRecord,
  ScheduleSummary,
  SessionRecord,
  SessionsQuery,
  StopSession,
  TenantRecord,
  UpdateClient,
  WorkspaceRecord,
} from '../src/index.ts';

test.each(Object.entries(wireFiles()))(
  'src/generated/%s is what the contract says',
  async (name, text) => {
    const written = await readFile(new URL(`../src/generated/${name}`, import.meta.url), 'utf8');
    expect(written, 'run: npm run reference').toBe(formatted(name, text));
  },
);

// The compiler checks the following: npm run check.

describe('the types of the SDK are those of the contract', () => {
  test('for responses', () => {
    expectTypeOf<AgentRecord>().toEqualTypeOf<contract.AgentRecord>();
    expectTypeOf<CallerRecord>().toEqualTypeOf<contract.CallerRecord>();
    expectTypeOf<ClientRecord>().toEqualTypeOf<contract.ClientRecord>();
    expectTypeOf<CredentialRecord>().toEqualTypeOf<contract.CredentialRecord>();
    expectTypeOf<FileRecord>().toEqualTypeOf<contract.FileRecord>();
    expectTypeOf<InteractionRecord>().toEqualTypeOf<contract.InteractionRecord>();
    expectTypeOf<IssuedClient>().toEqualTypeOf<contract.IssuedClient>();
    expectTypeOf<IssuedCredential>().toEqualTypeOf<contract.IssuedCredential>();
    expectTypeOf<ProfileCatalog>().toEqualTypeOf<contract.ProfileCatalog>();
    expectTypeOf<RunRecord>().toEqualTypeOf<contract.RunRecord>();
    expectTypeOf<ScheduleFire>().toEqualTypeOf<contract.FireRecord>();
    expectTypeOf<ScheduleRecord>().toEqualTypeOf<contract.ScheduleRecord>();
    expectTypeOf<ScheduleSummary>().toEqualTypeOf<contract.ScheduleSummary>();
    expectTypeOf<SessionRecord>().toEqualTypeOf<contract.SessionRecord>();
    expectTypeOf<TenantRecord>().toEqualTypeOf<contract.TenantRecord>();
    expectTypeOf<WorkspaceRecord>().toEqualTypeOf<contract.WorkspaceRecord>();
    expectTypeOf<ErrorCode>().toEqualTypeOf<contract.ErrorCode>();
  });

  test('for events', () => {
    expectTypeOf<keyof EventDataByType>().toEqualTypeOf<contract.EventType>();
    expectTypeOf<EventDataByType>().toEqualTypeOf<{
      [T in contract.EventType]: contract.EventData<T>;
    }>();
  });

  test('for requests', () => {
    expectTypeOf<Mutable<AddCredential>>().toEqualTypeOf<Sent<'add_credential'>>();
    expectTypeOf<Mutable<CancelRun>>().toEqualTypeOf<Sent<'cancel_run'>>();
    expectTypeOf<Mutable<CreateClient>>().toEqualTypeOf<Sent<'create_client'>>();
    expectTypeOf<Mutable<CreateTenant>>().toEqualTypeOf<Sent<'create_tenant'>>();
    expectTypeOf<Mutable<OffboardTenant>>().toEqualTypeOf<Sent<'offboard_tenant'>>();
    expectTypeOf<Mutable<PrepareFile>>().toEqualTypeOf<Sent<'prepare_file'>>();
    expectTypeOf<Mutable<StopSession>>().toEqualTypeOf<Sent<'stop_session'>>();
    expectTypeOf<Mutable<UpdateClient>>().toEqualTypeOf<Sent<'update_client'>>();
    expectTypeOf<Mutable<Answer>>().toEqualTypeOf<
      Mutable<contract.PermissionAnswer | contract.QuestionAnswer>
    >();
    expectTypeOf<keyof SessionsQuery>().toEqualTypeOf<
      keyof contract.Operations['list_sessions']['query']['shape']
    >();
  });
});

describe('the TypeScript types', () => {
  test('narrow the payload by the type of an event', () => {
    const read = (event: RunEvent) => {
      if (event.type === 'message_delta') {
        expectTypeOf(event.data.text).toEqualTypeOf<string>();
      } else if (event.type === 'permission_request') {
        expectTypeOf(event.data.tool_name).toEqualTypeOf<string>();
      } else if (event.type === 'acp.plan') {
        expectTypeOf(event.data).toEqualTypeOf<JsonObject>();
      }
      return event.type === 'error' ? event.data.message : event.id;
    };
    expectTypeOf(read).returns.toEqualTypeOf<string>();
  });

  test('require credentials or a token', () => {
    type Options = ConstructorParameters<typeof Convoke>[0];
    expectTypeOf<{ baseUrl: string; clientId: string; clientSecret: string }>().toExtend<Options>();
    expectTypeOf<{ baseUrl: string; token: () => Promise<string> }>().toExtend<Options>();
    expectTypeOf<{ baseUrl: string }>().not.toExtend<Options>();
    expectTypeOf<{ baseUrl: string; clientId: string }>().not.toExtend<Options>();
  });

  test('allow short answers, synchronous and asynchronous', () => {
    const follow = (run: RunHandle) => [
      run.follow({ onPermission: () => 'allow', onQuestion: ({ question }) => question }),
      run.follow({ onQuestion: async () => ['a', 'b'] as const }),
      run.follow({ onPermission: async ({ tool_name }) => (tool_name === 'x' ? 'allow' : 'deny') }),
      run.follow({
        onPermission: async ({ tool_name }) => (tool_name === 'x' ? 'allow' : undefined),
      }),
      // @ts-expect-error only allow and deny are decisions
      run.follow({ onPermission: () => 'maybe' }),
    ];
    expectTypeOf(follow).returns.items.toExtend<AsyncGenerator<RunEvent, void, undefined>>();
  });

  test('expose plain records beside the methods', () => {
    expectTypeOf<Run['record']>().toEqualTypeOf<RunRecord>();
    expectTypeOf<Awaited<ReturnType<Run['wait']>>>().toEqualTypeOf<RunRecord>();
  });
});

type Sent<Id extends contract.OperationId> = contract.Operations[Id] extends {
  readonly body: { readonly _zod: { readonly input: infer Body } };
}
  ? Mutable<Body>
  : never;

/** The SDK takes read-only lists; the contract writes its lists as their own. */
type Mutable<T> = T extends readonly (infer Item)[]
  ? Item[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;
