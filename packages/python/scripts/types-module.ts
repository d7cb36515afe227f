// `convoke_sdk.types`: every type that a program may want to name.
import { enums } from '../../sdk/scripts/wire.ts';
import type { TypeFile } from '../../contract/src/schema-types/python.ts';
import { byText } from './docstrings.ts';

interface Types {
  readonly records: TypeFile;
  readonly requests: TypeFile;
  readonly events: TypeFile;
  /** Of the events themselves. */
  readonly eventNames: readonly string[];
}

const handles = ['Run', 'RunHandle', 'Session', 'SessionHandle'];
const handlers = ['PermissionHandler', 'QuestionHandler'];

export function typesModule({ records, requests, events, eventNames }: Types): string {
  const modules: Readonly<Record<string, readonly string[]>> = {
    '._async.files': ['AsyncDownload'],
    '._async.listing': ['AsyncListing'],
    '._core.handlers': ['Answer', ...handlers, ...asynchronous(handlers)],
    '._core.requests': ['RunInput', 'Unset'],
    '._generated.async_resources': asynchronous(handles),
    '._generated.events': [...events.names, ...eventNames],
    '._generated.records': records.names,
    '._generated.requests': requests.names,
    '._generated.resources': handles,
    '._generated.values': ['ErrorCode', 'JsonObject', ...Object.keys(enums)],
    '._sync.files': ['Download'],
    '._sync.listing': ['Listing'],
  };
  const imports = Object.entries(modules).map(
    ([module, names]) => `from ${module} import (\n${lines(names, '')})`,
  );
  const all = [...new Set(Object.values(modules).flat())];
  return [
    '"""The types of records, requests, events and values, for annotations."""\n',
    ...imports,
    '',
    `__all__ = [\n${lines(all, '"')}]`,
    '',
  ].join('\n');
}

function asynchronous(names: readonly string[]): string[] {
  return names.map((name) => `Async${name}`);
}

function lines(names: readonly string[], quote: string): string {
  return names
    .toSorted(byText)
    .map((name) => `    ${quote}${name}${quote},\n`)
    .join('');
}
