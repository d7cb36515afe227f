import type {
  MediaType,
  OpenApiDocument,
  PathOperation,
  SecurityScheme,
} from './openapi/document.ts';
import { documentedEvents, withTypedEvents } from './openapi/events.ts';
import { exampleOf } from './openapi/examples.ts';
import { responseHeaders } from './openapi/headers.ts';
import { parametersOf, selectorParameters } from './openapi/parameters.ts';
import { type RefusalWriter, errorCodesOf, refusalWriter } from './openapi/refusals.ts';
import { type SchemaWriter, schemaWriter } from './openapi/schemas.ts';
import { successesOf } from './openapi/successes.ts';
import { type Operation, requiredScopes, type Tag } from './operation.ts';
import { operationList } from './operations/table.ts';
import { scopeDescriptions } from './scopes.ts';

export type OpenApiOptions = {
  readonly version: string;
  /** The origin of the server; the one that `npm start` starts when absent. */
  readonly baseUrl?: string;
};

const tagDescriptions: { readonly [T in Tag]: string } = {
  Tokens: 'A backend exchanges the id and secret of its automation client for short-lived tokens.',
  Workspaces: 'The caller, and the organizations and tenants that it can select.',
  Agents: 'Agents that are deployed and enabled for the tenant.',
  Sessions: 'A session is a conversation with one agent. It outlives its runs and server restarts.',
  Runs: 'A run is one invocation of the agent inside a session, followed as a stream of events.',
  Feedback: 'What users, people and programs say about runs.',
  Interactions: 'Questions and permission requests of agents, and their answers.',
  Files:
    'Files for a session. Check `file_attachments_enabled` and `session_files_supported` first.',
  Faces: 'A session in the protocols of chat libraries: the same log, in another form.',
  Feed: 'Everything that happens in a tenant, as one numbered stream of notices.',
  Webhooks:
    'A webhook sends the notices of the tenant to a URL, signed, and again until it is answered.',
  Connections:
    'A connection is the account of a tenant or of an end user for a service that agents use.',
  Schedules: 'A schedule starts runs of an agent at the times of a cron pattern.',
  'Automation clients': 'The machine identities of an organization, managed by owners and admins.',
  Credentials:
    'The secrets of an automation client: at most two are active, so that they can be rotated.',
  Tenants: 'The isolated parts of an organization, managed by owners and admins.',
  Organizations: 'Organizations and the people in them.',
  Usage: 'Tokens and costs of runs.',
  System: 'Health checks and the API description.',
};

const description = [
  'Create a session with an agent, start runs, follow them as server-sent events, answer questions of',
  'the agent, cancel and resume. Automation clients call the application API with the headers',
  '`X-Organization-ID` and `X-Workspace-Tenant-ID`; owners and admins call organization management.',
  'Requests with unknown fields are rejected. Ignore unknown response fields and event types.',
].join(' ');

const usualServer = 'http://127.0.0.1:8787';

/** Returns the API as one OpenAPI 3.1 document. The output is deterministic. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { version, baseUrl = usualServer } = options;
  const writer = schemaWriter();
  const refusals = refusalWriter(writer);
  const paths = pathsOf(writer, refusals);
  const events = documentedEvents(writer);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Convoke',
      version,
      summary: 'Invoke agents from a backend.',
      description,
      contact: { name: 'Convoke documentation', url: `${baseUrl}/docs` },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [serverOf(options)],
    tags: tagsInUse().map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      securitySchemes: securitySchemes(baseUrl),
      parameters: selectorParameters,
      headers: responseHeaders,
      responses: refusals.components(),
      schemas: withTypedEvents(writer.components()),
    },
    'x-event-types': events,
  };
}

function pathsOf(
  writer: SchemaWriter,
  refusals: RefusalWriter,
): Record<string, Record<string, PathOperation>> {
  const paths: Record<string, Record<string, PathOperation>> = {};
  for (const operation of operationList) {
    const methods = paths[operation.path] ?? {};
    methods[operation.method.toLowerCase()] = pathOperation(operation, writer, refusals);
    paths[operation.path] = methods;
  }
  return paths;
}

function pathOperation(
  operation: Operation,
  writer: SchemaWriter,
  refusals: RefusalWriter,
): PathOperation {
  const parameters = parametersOf(operation, writer);
  const content = requestContent(operation, writer);
  const { scope } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: securityOf(operation),
    ...(typeof scope === 'object' && 'unscoped' in scope ? { 'x-unscoped': scope.unscoped } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content ? { requestBody: { required: operation.bodyRequired === true, content } } : {}),
    responses: { ...successesOf(operation, writer), ...refusals.write(operation) },
    'x-error-codes': errorCodesOf(operation),
  };
}

function requestContent(
  operation: Operation,
  writer: SchemaWriter,
): Record<string, MediaType> | undefined {
  if (operation.content === 'bytes') {
    return { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  }
  const body = operation.documentedBody ?? operation.body;
  if (!body) return undefined;
  const type =
    operation.content === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const schema = writer.write(body, 'input');
  return { [type]: { schema, example: exampleOf(schema, writer.components()) } };
}

function securityOf(operation: Operation): PathOperation['security'] {
  if (operation.caller === 'anonymous') return [];
  if (operation.caller === 'human') return [{ human: [] }];
  const automation = { automation: [...requiredScopes(operation)] };
  return operation.caller === 'any' ? [automation, { human: [] }] : [automation];
}

function securitySchemes(baseUrl: string): Record<string, SecurityScheme> {
  return {
    automation: {
      type: 'oauth2',
      description: 'The access token of an automation client, as a bearer token.',
      flows: {
        clientCredentials: { tokenUrl: `${baseUrl}/v1/oauth/token`, scopes: scopeDescriptions },
      },
    },
    human: {
      type: 'http',
      scheme: 'bearer',
      description: 'The access token of a person who is an owner or admin of the organization.',
    },
  };
}

function serverOf({ baseUrl }: OpenApiOptions): OpenApiDocument['servers'][number] {
  if (baseUrl !== undefined) return { url: baseUrl, description: 'This server.' };
  return { url: usualServer, description: 'A server on your machine, started by `npm start`.' };
}

function tagsInUse(): Tag[] {
  return [...new Set(operationList.map((operation) => operation.tag))];
}
