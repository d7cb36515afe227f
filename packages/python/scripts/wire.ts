// What is generated for the Python client, by path below src/convoke_sdk.
import { readFileSync } from 'node:fs';
import { errors, eventTypes, openApiDocument, operationList } from '../../contract/src/index.ts';
import {
  inputNames,
  enums,
  refs,
  resultNames,
  connectionResultNames,
  webhookResultNames,
} from '../../sdk/scripts/wire.ts';
import { blocking } from './blocking.ts';
import { isRepeatable, nouns } from './method-names.ts';
import { pascal } from '../../contract/src/schema-types/names.ts';
import { TypeFile, literal } from '../../contract/src/schema-types/python.ts';
import type { Schema } from '../../contract/src/schema-types/shape.ts';
import { type Description, resourceClasses } from './resources.ts';
import { typesModule } from './types-module.ts';
import { byText } from './docstrings.ts';

/** Files of `_async` from which those of `_sync` are made. Transport, driver and following differ. */
export const shared = [
  'agents',
  'client',
  'feed',
  'files',
  'listing',
  'resource',
  'runs',
  'schedules',
  'sessions',
] as const;

export function wireFiles(): Readonly<Record<string, string>> {
  const { components, paths } = openApiDocument({ version: 'any' }) as unknown as Document;
  const names = {
    source: 'contract' as const,
    enums,
    refs: { ...refs, ...inputNames },
    components: components.schemas,
    inner: {
      StartRunBudget: 'RunBudget',
      InvokeAgentBudget: 'RunBudget',
      SetRulesRules: 'NewRule',
      TryRulesRules: 'NewRule',
      NewRuleWhen: 'NewRuleCondition',
      NewRuleApprovers: 'NewRuleApprovers',
    },
  };
  const records = new TypeFile(names, 'output');
  const requests = new TypeFile(names, 'input');
  const events = new TypeFile(names, 'output');
  const descriptions = descriptionsOf(paths);
  // Bodies of methods that are written by hand.
  const startRun = descriptions['start_run']?.body?.properties?.['budget'] ?? {};
  requests.typeOf(startRun, 'StartRunBudget');
  const results = {
    ...resultNames,
    ...webhookResultNames,
    ...connectionResultNames,
    rotate_webhook: 'IssuedWebhook',
  };
  const classes = resourceClasses({ records, requests, descriptions, results });
  for (const component of ['File', 'Notice', 'Interaction', 'Run', 'SessionConnection']) {
    records.typeOf({ $ref: component }, '');
  }
  const union = eventUnion(events, components.schemas);
  const eventNames = [
    ...Array.from(union.matchAll(/^class (\w+)/gm), ([, name = '']) => name),
    'RunEvent',
  ];
  const resources = resourcesFile(classes, { records, requests });
  return {
    '_generated/__init__.py': `${generated}`,
    '_generated/values.py': valuesFile(),
    '_generated/records.py': typesFile(records.text),
    '_generated/requests.py': typesFile(requests.text),
    '_generated/events.py': typesFile(`${events.text}\n\n\n${union}`),
    '_generated/operations.py': operationsFile(),
    '_generated/async_resources.py': resources,
    'types.py': `${generated}${typesModule({ records, requests, events, eventNames })}`,
    '_generated/resources.py': blocking(resources, '_generated/async_resources.py'),
    ...Object.fromEntries(
      shared.map((name) => [
        `_sync/${name}.py`,
        blocking(readFileSync(new URL(`_async/${name}.py`, source), 'utf8'), `_async/${name}.py`),
      ]),
    ),
  };
}

export const source = new URL('../src/convoke_sdk/', import.meta.url);

const generated =
  '# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.\n';

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationText>>>>;
}
interface OperationText {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: Payload;
  readonly responses: Readonly<Record<string, Payload>>;
}
interface Payload {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

function descriptionsOf(paths: Document['paths']): Readonly<Record<string, Description>> {
  const all = Object.values(paths).flatMap((methods) => Object.values(methods));
  return Object.fromEntries(
    all.map((operation) => [operation.operationId, descriptionOf(operation)]),
  );
}

function descriptionOf({ parameters = [], requestBody, responses }: OperationText): Description {
  const { 200: done, 201: made, 202: begun, 204: empty } = responses;
  const content = (made ?? done ?? begun)?.content ?? {};
  const sent = requestBody?.content ?? {};
  const form = sent['application/x-www-form-urlencoded'];
  return {
    body: (form ?? sent['application/json'])?.schema,
    isForm: form !== undefined,
    query: Object.fromEntries(
      parameters.filter((one) => one.in === 'query').map(({ name, schema }) => [name, schema]),
    ),
    result: content['application/json']?.schema,
    isText: 'text/html' in content,
    isMaybeEmpty: empty !== undefined,
  };
}

function valuesFile(): string {
  const lists = Object.entries(enums).map(([name, values]) => `${name} = ${longLiteral(values)}`);
  return [
    generated,
    'from collections.abc import Mapping',
    'from typing import Any, Literal\n',
    "#: An object whose members the API does not declare: an agent's input, a tool's input, a payload.",
    'JsonObject = Mapping[str, Any]',
    ...lists,
    `ErrorCode = ${longLiteral(Object.keys(errors))}`,
    '',
  ].join('\n');
}

function longLiteral(values: readonly string[]): string {
  const short = literal(values);
  if (short.length <= 80) return short;
  return `Literal[\n${values.map((value) => `    "${value}",\n`).join('')}]`;
}

function typesFile(text: string): string {
  const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(text);
  const collections = ['Mapping', 'Sequence'].filter(uses);
  const typing = ['Any', 'Literal', 'TypeAlias', 'TypedDict', 'Union'].filter(uses);
  const values = ['JsonObject', ...Object.keys(enums)].filter(uses);
  return [
    generated,
    'from __future__ import annotations\n',
    ...(collections.length > 0 ? [`from collections.abc import ${collections.join(', ')}`] : []),
    `from typing import ${typing.join(', ')}\n`,
    `from .values import ${values.join(', ')}\n\n`,
    text,
    '',
  ].join('\n');
}

/** One class for each type of event, so that comparing `event["type"]` tells the type of its data. */
function eventUnion(events: TypeFile, schemas: Readonly<Record<string, Schema>>): string {
  const envelope = [
    'class EventEnvelope(TypedDict):',
    '    #: Orders the events of one run. Store it after you have processed the event, to continue after it.',
    '    id: str',
    '    session_id: str',
    '    run_id: str',
    '    created_at: str',
  ].join('\n');
  const known = Object.entries(eventTypes).map(([type, { description }]) => {
    const data = `${pascal(type)}Data`;
    events.declare(data, schemas[data] ?? {});
    return `class ${pascal(type)}Event(EventEnvelope):
    """${description}"""

    type: Literal["${type}"]
    data: ${data}`;
  });
  const other = `class OtherRunEvent(EventEnvelope):
    """An event of an agent framework, named \`<framework>.<name>\`, or of a type newer than this client. Never terminal.

    Its type is declared so that comparing \`event["type"]\` with a known type tells the type of the data.
    """

    type: Literal["<framework>.<name>"]
    data: JsonObject`;
  const names = [...Object.keys(eventTypes).map((type) => `${pascal(type)}Event`), 'OtherRunEvent'];
  const union = `RunEvent = Union[\n${names.map((name) => `    ${name},\n`).join('')}]`;
  return [envelope, ...known, other, union].join('\n\n\n');
}

const access = {
  automation: 'tenant',
  human: 'person',
  any: 'person',
  anonymous: 'anonymous',
} as const;

function operationsFile(): string {
  const lines = operationList.map((operation) => {
    const { id, method, path, caller } = operation;
    const repeatable = isRepeatable(operation) ? 'always' : 'refused';
    return `${id.toUpperCase()} = Operation("${method}", "${path}", "${access[caller]}", "${repeatable}")`;
  });
  return `${generated}\nfrom .._core.calls import Operation\n\n${lines.join('\n')}\n`;
}

function resourcesFile(
  text: string,
  types: { readonly records: TypeFile; readonly requests: TypeFile },
): string {
  const uses = (name: string) => new RegExp(`(?<![\\w".])${name}\\b`).test(text);
  const bases = Map.groupBy(
    Object.values(nouns).flatMap(({ base }) => (base === undefined ? [] : [base])),
    ([file]) => file,
  );
  const from = (module: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`from ${module} import ${names.toSorted(byText).join(', ')}`];
  return [
    generated,
    'from __future__ import annotations\n',
    ...from('collections.abc', ['Mapping', 'Sequence'].filter(uses)),
    ...from('typing', ['Any', 'Literal'].filter(uses)),
    '',
    ...Array.from(bases).flatMap(([file, list]) =>
      from(`.._async.${file}`, [...new Set(list.map(([, name]) => `Async${name}`))]),
    ),
    'from .._async.driver import AsyncDriver',
    'from .._async.listing import AsyncListing',
    'from .._async.resource import AsyncResource',
    'from .._core.calls import Calls',
    ...from(
      '.._core.requests',
      ['RunInput', 'UNSET', 'Unset', 'input_of', 'new_key', 'present'].filter(uses),
    ),
    'from . import operations as op',
    ...from('.events', ['RunEvent'].filter(uses)),
    ...from('.records', types.records.names.filter(uses)),
    ...from('.requests', types.requests.names.filter(uses)),
    ...from('.values', ['JsonObject', ...Object.keys(enums)].filter(uses)),
    '\n',
    text,
    '',
  ].join('\n');
}
