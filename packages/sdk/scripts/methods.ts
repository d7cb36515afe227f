// The classes of src/generated whose methods are one request each: list, get, create, update, delete and the like. An
// operation says in the contract which method it becomes (`sdk`); what needs more than a request is written by hand.
import { type Operation, operationList, pathParams } from '@convoke/contract';

/** What the rest of the generated code calls the types of an operation. */
export interface TypeNames {
  /** The type of the successful response; undefined if it is empty. */
  result(id: string): string | undefined;
  /** The field of a page that holds the items, and their type; undefined if the response is no page. */
  page(id: string): { readonly key: string; readonly item: string } | undefined;
  query(id: string): string;
  body(id: string): string;
}

/** A class of the SDK. One that has further methods, written by hand, extends `base`. */
interface Noun {
  readonly name: string;
  readonly about: string;
  readonly isExtended?: true;
}

const nouns: Readonly<Record<string, Noun>> = {
  agents: {
    name: 'Agents',
    about: 'The agents that are enabled for the workspace.',
    isExtended: true,
  },
  schedules: { name: 'Schedules', about: 'The schedules of the workspace.', isExtended: true },
  webhooks: { name: 'Webhooks', about: 'The webhooks of the workspace.', isExtended: true },
  connections: {
    name: 'Connections',
    about: 'The accounts of the workspace and of its end users for services that agents use.',
  },
  audit: { name: 'Audit', about: 'The audit log of the organization.' },
  budgets: {
    name: 'Budgets',
    about: 'The budgets of the organization. Costs are in millionths of the currency.',
  },
  clients: {
    name: 'Clients',
    about: 'The automation clients of the organization.',
    isExtended: true,
  },
  credentials: {
    name: 'Credentials',
    about: 'The secrets of automation clients, to rotate them: add, deploy, revoke the old one.',
  },
  members: {
    name: 'Members',
    about: 'The people of the organization. Invitations add them.',
  },
  invitations: {
    name: 'Invitations',
    about:
      'The open invitations of the organization. The secret of one is in the response that creates it.',
  },
  rules: {
    name: 'Rules',
    about: 'The rules of the organization about tool calls: one document.',
    isExtended: true,
  },
  tenants: {
    name: 'Tenants',
    about:
      'The tenants of the organization. One is usable when it is `active` and its attachment is `ready`.',
  },
};

const organization = '/v1/organizations/{organization_id}';

/** The files by name, without their imports of types. */
export function methodFiles(names: TypeNames): Readonly<Record<string, string>> {
  const byNoun = Object.groupBy(
    operationList.filter(({ sdk }) => sdk !== undefined),
    ({ sdk }) => sdk?.method.split('.')[0] ?? '',
  );
  return Object.fromEntries(
    Object.entries(byNoun).map(([noun, operations = []]) => [
      `${noun}.ts`,
      classOf(noun, operations, names),
    ]),
  );
}

/** The name of the class that is generated for a noun. */
function classOf(noun: string, operations: readonly Operation[], names: TypeNames): string {
  const known = nouns[noun];
  if (known === undefined) throw new Error(`methods.ts: say what \`${noun}\` is`);
  const { name, about, isExtended } = known;
  const isOfOrganization = operations.every(({ path }) => path.startsWith(organization));
  const methods = operations.map((operation) => methodOf(operation, names));
  return [
    `/** ${about} */`,
    `export class ${isExtended ? `Plain${name}` : name} {`,
    '  readonly #transport: Transport;',
    ...(isOfOrganization ? ['  readonly #organization: string;'] : []),
    '',
    isOfOrganization
      ? '  /** `organization` is the path of the organization. */\n  constructor(transport: Transport, organization: string) {'
      : '  constructor(transport: Transport) {',
    '    this.#transport = transport;',
    ...(isOfOrganization ? ['    this.#organization = organization;'] : []),
    '  }',
    ...methods.flatMap((method) => ['', method]),
    '}',
  ].join('\n');
}

function methodOf(operation: Operation, names: TypeNames): string {
  const name = operation.sdk?.method.split('.')[1] ?? '';
  return `${docOf(operation)}\n${bodyOf(operation, name, names)}`;
}

function bodyOf(operation: Operation, name: string, names: TypeNames): string {
  const { id, method } = operation;
  const page = names.page(id);
  const path = pathOf(operation);
  if (page !== undefined) {
    return `${name}(${given(operation, `query: ${names.query(id)} & CallOptions = {}`)}): Listing<${page.item}> {
  return new Listing(this.#transport, { path: ${path}, key: '${page.key}' }, query);
}`;
  }
  const result = names.result(id);
  if (method === 'DELETE') return removal(operation, name, { result, names });
  const sent = sentBy(operation, names);
  const call = [`method: '${method}'`, `path: ${path}`, ...sent.parts, 'signal'];
  return `${name}(${given(operation, sent.parameter)}): Promise<${result}> {
  ${sent.before}return this.#transport.json({ ${call.join(', ')} });
}`;
}

interface Removal {
  readonly result: string | undefined;
  readonly names: TypeNames;
}

function removal(operation: Operation, name: string, { result, names }: Removal): string {
  const hasQuery = operation.query !== undefined;
  const options = hasQuery
    ? `{ signal, ...query }: ${names.query(operation.id)} & CallOptions = {}`
    : '{ signal }: CallOptions = {}';
  const parameters = given(operation, options);
  const path = pathOf(operation);
  const asked = hasQuery ? `path: ${path}, query` : `path: ${path}`;
  return result === undefined
    ? `async ${name}(${parameters}): Promise<void> {
  await this.#transport.json({ method: 'DELETE', ${asked}, signal });
}`
    : `${name}(${parameters}): Promise<${result} | undefined> {
  return this.#transport.remove({ path: ${path}, signal });
}`;
}

interface SentParameter {
  readonly parameter: string;
  readonly before: string;
  /** Members of the call beside method, path and signal. */
  readonly parts: readonly string[];
}

function sentBy(operation: Operation, names: TypeNames): SentParameter {
  const { id, sdk, method } = operation;
  const isRepeatable = sdk?.repeatable === true ? ["repeatable: 'always'"] : [];
  const fields = fieldsOf(operation);
  if (fields.length === 0) {
    return { parameter: '{ signal }: CallOptions = {}', before: '', parts: isRepeatable };
  }
  const keyInBody = fields.includes('idempotency_key');
  if (!keyInBody && operation.headers?.['idempotency-key'] === undefined) {
    const parameter = `{ signal, ...change }: ${names.body(id)} & CallOptions`;
    return { parameter, before: '', parts: ['json: change', ...isRepeatable] };
  }
  const value = sdk?.method.split('.')[0]?.replace(/s$/, '') ?? method;
  const type = keyInBody ? `Omit<${names.body(id)}, 'idempotency_key'>` : names.body(id);
  return {
    parameter: `${value}: ${type}, options: IdempotentOptions = {}`,
    before: 'const { idempotencyKey = newKey(), signal } = options;\n',
    parts: [
      ...(keyInBody
        ? [`json: { ...${value}, idempotency_key: idempotencyKey }`]
        : ['headers: idempotencyHeader(idempotencyKey)', `json: ${value}`]),
      "repeatable: 'always'",
    ],
  };
}

function fieldsOf({ body }: Operation): string[] {
  return body !== undefined && 'shape' in body ? Object.keys(body.shape as object) : [];
}

/** The parameters of the path, then what is given beside them. */
function given(operation: Operation, more: string): string {
  const ids = idsOf(operation).map((name) => `${variableOf(operation, name)}: string`);
  return [...ids, more].join(', ');
}

function idsOf({ path }: Operation): string[] {
  return pathParams(path).filter((name) => name !== 'organization_id');
}

function variableOf(operation: Operation, name: string): string {
  if (idsOf(operation).length === 1 && name.endsWith('_id')) return 'id';
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function pathOf(operation: Operation): string {
  const isOfOrganization = operation.path.startsWith(organization);
  const path = isOfOrganization ? operation.path.slice(organization.length) : operation.path;
  const hasIds = idsOf(operation).length > 0;
  const filled = path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => `\${${variableOf(operation, name)}}`,
  );
  if (isOfOrganization) {
    return hasIds
      ? `\`\${this.#organization}\${at\`${filled}\`}\``
      : `\`\${this.#organization}${filled}\``;
  }
  return hasIds ? `at\`${filled}\`` : `'${filled}'`;
}

/** What the contract says of the operation, in lines of a readable length. */
function docOf({ summary, description }: Operation): string {
  const words = `${summary}. ${description}`.split(' ');
  const lines = [''];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length > 110) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.length === 1
    ? `/** ${lines[0]} */`
    : ['/**', ...lines.map((line) => ` * ${line}`), ' */'].join('\n');
}
