// The check of a value says what another validator of JSON Schema 2020-12 says, which shares no code with it (D-561).
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSchemas } from '../../src/agents/schemas/read-schemas.ts';
import { parseYaml } from '../../src/agents/yaml-source.ts';
import { type Json, type JsonObject, isObject } from '../../src/domain/json.ts';

const other = new CfWorkerJsonSchemaValidator({ draft: '2020-12' });

/** Few names, texts and numbers, so that a value fits a schema about as often as not. */
const name = fc.constantFrom('a', 'b', 'c', 'x/y', 'd~e', 'é');
const text = fc.constantFrom('', 'a', 'ab', 'aab', 'b', '😀', 'x y');
const number = fc.constantFrom(-1, 0, 0.5, 1, 2, 3, 6, 1e300);
const count = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null');
const pattern = fc.constantFrom('^a', 'b$', '^[ab]*$', 'a{2}', '^(a|x y)$', '\\d', '.');

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), number, text),
    fc.array(tie('value'), { maxLength: 4 }),
    // The other validator takes an empty object for an empty list.
    fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** One to three keywords at every level, of all that check something. `plain` has no reference. */
function schemasOf(refers: boolean) {
  const { schema } = fc.letrec<{ schema: JsonObject | boolean; keywords: JsonObject }>((tie) => {
    const inner = tie('schema');
    const map = fc.dictionary(name, inner, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
    const list = fc.array(inner, { minLength: 1, maxLength: 3 });
    const names = fc.uniqueArray(name, { maxLength: 2 });
    const one = (keyword: string, of: fc.Arbitrary<unknown>) =>
      of.map((given) => ({ [keyword]: given }) as JsonObject);
    const checks = [
      one('type', fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
      one('enum', fc.array(value, { minLength: 1, maxLength: 4 })),
      one('const', value),
      ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
        (keyword) => one(keyword, count),
      ),
      ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((keyword) =>
        one(keyword, number),
      ),
      one('multipleOf', fc.constantFrom(0.5, 1, 2, 3)),
      one('uniqueItems', fc.boolean()),
      one('pattern', pattern),
      one('required', names),
      one('dependentRequired', fc.dictionary(name, names, { maxKeys: 2, noNullPrototype: true })),
      one('contains', inner),
      // The other validator forgets that `minContains` is 1 where `maxContains` stands alone.
      fc.record({ contains: inner, minContains: count, maxContains: count }),
      fc.record({ properties: map, additionalProperties: inner }, { requiredKeys: ['properties'] }),
      one(
        'patternProperties',
        fc.dictionary(pattern, inner, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
      ),
      fc.record({ prefixItems: list, items: inner }, { requiredKeys: ['prefixItems'] }),
      ...['allOf', 'anyOf', 'oneOf'].map((keyword) => one(keyword, list)),
      ...['items', 'not', 'propertyNames'].map((keyword) => one(keyword, inner)),
      one('dependentSchemas', map),
      fc.tuple(inner, inner, inner).map(conditional),
      fc.tuple(list, fc.boolean()).map(([parts, isOpen]) => ({
        allOf: parts,
        unevaluatedProperties: isOpen,
      })),
    ];
    const reference = one('$ref', fc.constantFrom('#/$defs/one', '#/$defs/two'));
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        { weight: 1, arbitrary: fc.boolean() },
        { weight: 9, arbitrary: tie('keywords') },
      ),
      keywords: fc
        .array(fc.oneof(...checks, ...(refers ? [reference] : [])), { minLength: 1, maxLength: 3 })
        .map((parts) => Object.assign({}, ...parts) as JsonObject),
    };
  });
  return schema.filter(isObject);
}

const schemas = fc
  .tuple(schemasOf(true), schemasOf(false), schemasOf(false))
  .map(([root, one, two]): JsonObject => ({ ...root, $defs: { one, two } }));

/** Read from text: a record with a member of the name `then` would be a promise. */
function conditional(parts: readonly unknown[]): JsonObject {
  const [when, then, otherwise] = parts.map((part) => JSON.stringify(part));
  return JSON.parse(`{"if":${when},"then":${then},"else":${otherwise}}`) as JsonObject;
}

async function checkOf(schema: JsonObject) {
  const source = parseYaml('agent.yaml', 'framework: code');
  const declared = { output_schema: schema };
  const read = await readSchemas(declared, {
    folder: '',
    framework: 'code',
    output: 'native',
    source,
  });
  if (!read.ok) throw new Error(read.reason);
  return (given: Json) => read.schemas.output?.check(given) ?? [];
}

test('2,000 schemas judge a value each as a validator does that shares no code with ours', async () => {
  const seen = { fits: 0, fails: 0 };
  await fc.assert(
    fc.asyncProperty(schemas, value, async (schema, given) => {
      const issues = (await checkOf(schema))(given);
      const fits = issues.length === 0;
      expect(fits).toBe(other.getValidator(schema)(given).valid);
      seen[fits ? 'fits' : 'fails'] += 1;
      // Each pointer leads into the value, or to a member that is missing.
      expect(issues.length).toBeLessThanOrEqual(20);
      for (const { pointer, message } of issues) {
        const place = pointer.split('/').slice(0, message === 'is missing' ? -1 : undefined);
        expect([pointer, leads(given, place)]).toEqual([pointer, true]);
      }
    }),
    { numRuns: 2_000, seed: 561 },
  );
  // A law that is never tried says nothing.
  expect(Math.min(seen.fits, seen.fails)).toBeGreaterThan(200);
});

function leads(root: Json, [, ...steps]: readonly string[]): boolean {
  let at: Json | undefined = root;
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<string, Json>)[key];
  }
  return true;
}
