import { expect, test } from 'vitest';
import { modelName, telemetryProvider } from '../../src/domain/usage/model-name.ts';

test.each([
  ['anthropic/claude-opus', 'anthropic', 'claude-opus'],
  ['openai-compatible/meta/llama', 'openai-compatible', 'meta/llama'],
  ['google/gemini-flash', 'gcp.gemini', 'gemini-flash'],
  ['mistral/small', 'mistral_ai', 'small'],
  ['claude-opus', 'convoke', 'claude-opus'],
  ['/odd', 'convoke', 'odd'],
  ['odd/', 'odd', 'odd/'],
])('%s is of %s and named %s in telemetry (D-1060)', (model, provider, name) => {
  expect([telemetryProvider(model), modelName(model)]).toEqual([provider, name]);
});

test('a run of an agent without a model is of Convoke itself (D-584)', () => {
  expect(telemetryProvider(undefined)).toBe('convoke');
});
