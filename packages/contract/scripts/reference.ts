import contract from '../package.json' with { type: 'json' };
import {
  errors,
  errorsOf,
  openApiDocument,
  operationList,
  permissionCatalog,
  runErrorCodes,
  runErrors,
} from '../src/index.ts';
import { markdownPage, markdownTable } from './markdown.ts';

/** The generated files of docs/reference, by name. */
export function referenceFiles(): Readonly<Record<string, string>> {
  return {
    'openapi.json': `${JSON.stringify(openApiDocument({ version: contract.version }), null, 2)}\n`,
    'errors.md': errorsPage(),
    'scopes.md': scopesPage(),
  };
}

const generated =
  '<!-- Generated from packages/contract by packages/contract/scripts/write-reference.ts. Do not edit. -->';

function errorsPage(): string {
  const codes = Object.entries(errors).map(([code, { status, message }]) => [
    `\`${code}\``,
    statusText(code, status),
    message,
  ]);
  const runCodes = runErrorCodes.map((code) => [`\`${code}\``, runErrors[code]]);
  return markdownPage([
    '# Error codes',
    generated,
    'Every error response is `{"error": code, "message"?, "request_id"}`. Decide by the code.',
    markdownTable(['Code', 'Status', 'Message'], codes),
    '## Run errors',
    'Values of `error_code` in a run and in its `error` event.',
    markdownTable(['Code', 'Meaning'], runCodes),
  ]);
}

function scopesPage(): string {
  const { catalog_version: version, profiles, scopes } = permissionCatalog();
  const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(' ');
  return markdownPage([
    '# Scopes and profiles',
    generated,
    `Catalog version ${version}.`,
    markdownTable(
      ['Scope', 'Permission', 'Operations'],
      scopes.map((scope) => [`\`${scope.name}\``, scope.description, names(scope.operations)]),
    ),
    '## Profiles',
    markdownTable(
      ['Profile', 'Permission', 'Scopes'],
      profiles.map((profile) => [
        `\`${profile.name}\``,
        profile.description,
        names(profile.scopes),
      ]),
    ),
  ]);
}

function statusText(code: string, usual: number): string {
  const others = operationList
    .flatMap((operation) => errorsOf(operation))
    .filter((error) => error.code === code && error.status !== usual)
    .map((error) => error.status);
  return [usual, ...new Set(others)].join(' or ');
}
