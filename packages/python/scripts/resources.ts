// The classes of `_generated/async_resources.py`: one method for each operation.
import type { Operation } from '../../contract/src/index.ts';
import { pathParams } from '../../contract/src/index.ts';
import { type Noun, type Place, nouns, operationsOf, positional } from './method-names.ts';
import { pascal } from '../../contract/src/schema-types/names.ts';
import type { TypeFile } from '../../contract/src/schema-types/python.ts';
import type { Schema } from '../../contract/src/schema-types/shape.ts';
import { wrapped } from './docstrings.ts';

export interface Types {
  readonly records: TypeFile;
  readonly requests: TypeFile;
  readonly descriptions: Readonly<Record<string, Description>>;
  /** Names of results that the API description does not name. */
  readonly results: Readonly<Record<string, string>>;
}

/** What the API description says of an operation. */
export interface Description {
  readonly body?: Schema | undefined;
  readonly isForm: boolean;
  readonly query: Readonly<Record<string, Schema>>;
  /** The JSON of a success; undefined if it has none. */
  readonly result?: Schema | undefined;
  readonly isText: boolean;
  /** Whether a success may also be empty. */
  readonly isMaybeEmpty: boolean;
}

export function resourceClasses(types: Types): string {
  return Object.entries(nouns)
    .flatMap(([name, noun]) => [classOf(name, noun, types), ...wrapper(name)])
    .join('\n\n\n');
}

function classOf(name: string, noun: Noun, types: Types): string {
  const base = noun.base === undefined ? 'AsyncResource' : `Async${noun.base[1]}`;
  const methods = operationsOf(name).map(([operation, place]) =>
    methodOf(operation, place, { noun, types }),
  );
  return [`class Async${name}(${base}):`, `    """${noun.about}"""`, '', methods.join('\n\n')].join(
    '\n',
  );
}

/** The class with the record that a request returned. */
function wrapper(name: string): string[] {
  if (name !== 'SessionHandle' && name !== 'RunHandle') return [];
  const isRun = name === 'RunHandle';
  const noun = isRun ? 'Run' : 'Session';
  const ids = isRun
    ? 'session_id=record["session_id"], run_id=record["id"]'
    : 'session_id=record["id"]';
  return [
    `class Async${noun}(Async${name}):
    """A ${noun.toLowerCase()} with the record that the request returned."""

    def __init__(self, driver: AsyncDriver, calls: Calls, record: ${noun}Record) -> None:
        super().__init__(driver, calls, ${ids})
        self.record = record`,
  ];
}

interface Context {
  readonly noun: Noun;
  readonly types: Types;
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly default?: string;
}

function methodOf(operation: Operation, place: Place, context: Context): string {
  const { id } = operation;
  const description = describedBy(context.types, id);
  const ids = pathParams(operation.path).filter((name) => !context.noun.bound?.includes(name));
  const query = queryOf(operation, context);
  const body = bodyOf(operation, context);
  const first = body.parameters.filter(({ name }) => body.positional.includes(name));
  const rest = [...body.parameters.filter(({ name }) => !body.positional.includes(name)), ...query];
  const parameters = [
    'self',
    ...ids.map((name) => `${name}: str`),
    ...first.map(declared),
    ...(rest.length > 0 ? ['*'] : []),
    // Those without a default stand first.
    ...rest.filter((one) => one.default === undefined).map(declared),
    ...rest.filter((one) => one.default !== undefined).map(declared),
  ];
  const parts = [
    `op.${id.toUpperCase()}`,
    ...(ids.length > 0 ? [`path={${ids.map((name) => `"${name}": ${name}`).join(', ')}}`] : []),
    ...(query.length > 0
      ? [`query={${query.map(({ name }) => `"${name.replace(/_$/, '')}": ${name}`).join(', ')}}`]
      : []),
    ...body.parts,
  ];
  const page = pageOf(description, id, context);
  const made =
    page === undefined
      ? single(place, parts, { id, types: context.types })
      : paged(place, parts, page);
  const head = signature(
    `${page === undefined ? 'async ' : ''}def ${place.method}`,
    parameters,
    made.type,
  );
  return [head, doc(operation), ...made.lines].join('\n');
}

function describedBy({ descriptions }: Types, id: string): Description {
  const description = descriptions[id];
  if (description === undefined) throw new Error(`${id} is not part of the API description`);
  return description;
}

function declared({ name, type, default: value }: Parameter): string {
  return value === undefined ? `${name}: ${type}` : `${name}: ${type} = ${value}`;
}

function signature(name: string, parameters: readonly string[], type: string): string {
  const line = `    ${name}(${parameters.join(', ')}) -> ${type}:`;
  if (line.length <= 110) return line;
  return [`    ${name}(`, ...parameters.map((one) => `        ${one},`), `    ) -> ${type}:`].join(
    '\n',
  );
}

/** A call with one argument a line where it is long. */
function call(before: string, parts: readonly string[], after: string): string[] {
  const line = `        ${before}(${parts.join(', ')})${after}`;
  if (line.length <= 110) return [line];
  return [
    `        ${before}(`,
    ...parts.map((part) => `            ${part},`),
    `        )${after}`,
  ];
}

interface MethodBody {
  readonly type: string;
  readonly lines: readonly string[];
}

function paged(
  { wraps }: Place,
  [operation = '', ...parts]: readonly string[],
  { key, item }: { readonly key: string; readonly item: string },
): MethodBody {
  const type = wraps === undefined ? item : `Async${wraps}`;
  const wrap = `item=lambda record: Async${wraps}(self._driver, self._calls, record)`;
  const all = [operation, `"${key}"`, ...parts, ...(wraps === undefined ? [] : [wrap])];
  return { type: `AsyncListing[${type}]`, lines: call('return self._list', all, '') };
}

function single(
  { wraps }: Place,
  parts: readonly string[],
  { id, types }: { readonly id: string; readonly types: Types },
): MethodBody {
  const description = describedBy(types, id);
  if (description.isText) return { type: 'str', lines: call('return await self._text', parts, '') };
  if (description.result === undefined) {
    return { type: 'None', lines: call('await self._json', parts, '') };
  }
  if (wraps !== undefined) {
    return {
      type: `Async${wraps}`,
      lines: [
        ...call('record = await self._json', parts, ''),
        `        return Async${wraps}(self._driver, self._calls, record)`,
      ],
    };
  }
  const named = types.records.typeOf(
    description.result,
    types.results[id] ?? `${pascal(id)}Response`,
  );
  const type = description.isMaybeEmpty ? `${named} | None` : named;
  return {
    type,
    lines: [...call(`record: ${type} = await self._json`, parts, ''), '        return record'],
  };
}

function pageOf({ result }: Description, id: string, { types }: Context) {
  const properties = result?.properties ?? {};
  if (!('next_cursor' in properties)) return undefined;
  const [list] = Object.entries(properties).filter(([, { type }]) => type === 'array');
  if (list === undefined) throw new Error(`the page of ${id} has no list`);
  return { key: list[0], item: types.records.typeOf(list[1].items ?? {}, `${pascal(id)}Item`) };
}

function queryOf({ id }: Operation, { types }: Context): Parameter[] {
  const query = types.descriptions[id]?.query ?? {};
  return (
    Object.entries(query)
      // The client reads names of events from the events themselves.
      .filter(([name]) => name !== 'event_names')
      .map(([name, schema]) => ({
        name: name === 'from' ? 'from_' : name,
        type: `${types.requests.typeOf(schema, `${pascal(id)}${pascal(name)}`)} | None`,
        default: 'None',
      }))
  );
}

interface Body {
  readonly parameters: readonly Parameter[];
  readonly positional: readonly string[];
  readonly parts: readonly string[];
}

function bodyOf(operation: Operation, { types }: Context): Body {
  const { id, headers } = operation;
  const { body, isForm } = types.descriptions[id] ?? { body: undefined, isForm: false };
  const hasKey = headers?.['idempotency-key'] !== undefined;
  const empty: Body = { parameters: [], positional: [], parts: [] };
  if (body === undefined) return empty;
  if (body.properties === undefined) {
    const type = types.requests.typeOf(body, pascal(id));
    return {
      parameters: [{ name: 'answer', type }],
      positional: ['answer'],
      parts: ['json=answer'],
    };
  }
  const fields = Object.entries(body.properties).filter(([name]) => name !== 'idempotency_key');
  const required = new Set(body.required);
  const parameters = fields.map(([name, schema]) =>
    parameterOf(name, schema, { isRequired: required.has(name), id, types }),
  );
  if (parameters.length === 0 && !hasKey) return empty;
  const key: Parameter = { name: 'idempotency_key', type: 'str | None', default: 'None' };
  const isKeyInBody = 'idempotency_key' in body.properties;
  const given = [
    ...fields.map(
      ([name, schema]) => `"${name}": ${isInput(name, schema) ? `input_of(${name})` : name}`,
    ),
    ...(isKeyInBody ? ['"idempotency_key": idempotency_key or new_key()'] : []),
  ];
  const nullable = fields.filter(([, schema]) => isNullable(schema)).map(([name]) => `"${name}",`);
  const sent = `present({${given.join(', ')}}${nullable.length > 0 ? `, (${nullable.join(' ')})` : ''})`;
  return {
    parameters: [...parameters, ...(hasKey ? [key] : [])],
    positional: positional[id] ?? [],
    parts: [
      `${isForm ? 'form' : 'json'}=${sent}`,
      ...(hasKey && !isKeyInBody ? ['key=idempotency_key or new_key()'] : []),
    ],
  };
}

interface Field {
  readonly isRequired: boolean;
  readonly id: string;
  readonly types: Types;
}

function parameterOf(name: string, schema: Schema, { isRequired, id, types }: Field): Parameter {
  const type = isInput(name, schema)
    ? 'RunInput'
    : types.requests.typeOf(schema, `${pascal(id)}${pascal(name)}`);
  if (isRequired) return { name, type };
  if (isNullable(schema)) return { name, type: `${type} | Unset`, default: 'UNSET' };
  return { name, type: `${type} | None`, default: 'None' };
}

/** The input of an agent, which may be given as its prompt alone. */
function isInput(name: string, { properties }: Schema): boolean {
  return name === 'input' && properties?.['prompt'] !== undefined;
}

function isNullable({ anyOf = [] }: Schema): boolean {
  return anyOf.some(({ type }) => type === 'null');
}

/** What the contract says of the operation. */
function doc({ summary, description }: Operation): string {
  const line = `        """${summary}. ${description}"""`;
  if (line.length <= 110) return line;
  const more = wrapped(description, 102).map((one) => `        ${one}`);
  return [`        """${summary}.`, '', ...more, '        """'].join('\n');
}
