import { createConfig, lintFromString } from '@redocly/openapi-core';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../src/index.ts';

const document = openApiDocument({ version: '1.2.3' });

describe('linters that other people use find nothing in the OpenAPI document', () => {
  test('Redocly, with the rules recommended-strict', async () => {
    expect(await redocly(document)).toEqual([]);
  });

  test('Spectral, with the rules oas', async () => {
    expect(await spectral(document)).toEqual([]);
  });

  test('and would find a component without use, and an operation without a description', async () => {
    const { description: _description, ...bare } = document.paths['/healthz']?.['get'] ?? {};
    const health = { ...bare, responses: { 200: { description: 'Alive.' } } };
    const components = { schemas: { Unused: { type: 'object' } } };
    const broken = { ...document, paths: { '/healthz': { get: health } }, components };
    expect(await redocly(broken)).toContain('no-unused-components');
    expect(await spectral(broken)).toContain('operation-description');
  });
});

async function redocly(description: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const place = { source: JSON.stringify(description), absoluteRef: '/openapi.json' };
  return (await lintFromString({ ...place, config })).map(({ ruleId }) => ruleId);
}

async function spectral(description: object): Promise<string[]> {
  const linter = new Spectral();
  linter.setRuleset(oas as RulesetDefinition);
  return (await linter.run({ ...description })).map(({ code }) => String(code));
}
