import type { ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { limits } from '@convoke/contract';
import { type Json, type JsonObject, canonicalJson, measureJson } from '../../domain/json.ts';
import type { Issue } from '../../domain/run/value-schema.ts';
import { CheckBudget, CostlyCheck } from './check-budget.ts';
import { type CheckCost, costKeyword, stepsOf, withCosts } from './check-costs.ts';
import type { LinearPattern } from './linear-patterns.ts';

/** A larger value is told its first issue only: a million of them would cost more than the value itself. */
const allIssuesCharactersMax = 16 * 1024;
const depthMax = 1000;
/** Steps of a check: 240 for each value of the largest input. */
const usualStepsMax = 12_000_000;
/** Steps of the search for all issues, of which each makes an object. */
const allIssuesStepsMax = 200_000;
/** Of a pointer or a message, which may contain names and texts of the value. */
const textMaxCharacters = 300;

export interface CompileSchema {
  readonly schema: JsonObject;
  /** Compiles a `pattern`. Absent for a schema without one. */
  readonly compilePattern: ((pattern: string) => LinearPattern) | undefined;
  readonly stepsMax?: number;
}

/** Compiles a schema that `SchemaWalk` has accepted into its check. Loads the validator with the first one. */
export async function compileSchema(
  request: CompileSchema,
): Promise<(value: Json) => readonly Issue[]> {
  const { stepsMax = usualStepsMax } = request;
  const budget = new CheckBudget();
  const make = await maker(request, budget);
  const first = make('first');
  let all: ValidateFunction | undefined;
  /** Undefined where the check was given up. */
  const judge = (check: ValidateFunction, value: Json, steps: number) => {
    budget.begin(steps);
    try {
      return check(value);
    } catch (error) {
      if (error instanceof CostlyCheck) return undefined;
      throw error;
    }
  };
  return (value) => {
    const isFitting = judge(first, value, stepsMax);
    if (isFitting === undefined) return [{ pointer: '', message: tooCostly(stepsMax) }];
    if (isFitting) return [];
    const size = measureJson(value, { charactersMax: allIssuesCharactersMax, depthMax });
    if (typeof size !== 'number') return issuesIn(first.errors);
    all ??= make('all');
    const isJudged = judge(all, value, allIssuesStepsMax) !== undefined;
    const issues = issuesIn(isJudged ? all.errors : first.errors);
    all.errors = null;
    return issues;
  };
}

function tooCostly(steps: number): string {
  return `takes more than ${steps} steps to check: the schema has too many branches or too large patterns for a value of this size`;
}

async function maker({ schema, compilePattern }: CompileSchema, budget: CheckBudget) {
  const { Ajv2020, _ } = await import('ajv/dist/2020.js');
  const regExp = Object.assign(
    (pattern: string) => withBudget(engineOf(compilePattern, pattern), budget),
    { code: 'linear' },
  );
  const charge = (cost: CheckCost, value: Json) => budget.spend(stepsOf(cost, value));
  const costed = withCosts(schema);
  return (which: 'first' | 'all') => {
    const options: Options = {
      allErrors: which === 'all',
      // The walk has checked the schema, and tells its author more.
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
      logger: false,
      // A member that every object inherits is not one of the value.
      ownProperties: true,
      // Else 0.07 is no multiple of 0.01: their quotient is 7.000000000000001.
      multipleOfPrecision: 6,
      code: { regExp },
    };
    const ajv = new Ajv2020(options);
    // Its own comparison is quadratic in the length of a list.
    ajv.removeKeyword('uniqueItems');
    const areUnique = (isWanted: boolean, list: readonly Json[]) =>
      !isWanted || areDifferent(list, budget);
    ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', validate: areUnique });
    ajv.addKeyword({
      keyword: costKeyword,
      // In front of everything that goes into other schemas.
      before: '$ref',
      code({ gen, schema: cost, data }) {
        const [charged, costs] = [charge, cost].map((ref) => gen.scopeValue('keyword', { ref }));
        gen.code(_`${charged}(${costs}, ${data})`);
      },
    });
    return ajv.compile(costed);
  };
}

function engineOf(compilePattern: CompileSchema['compilePattern'], pattern: string): LinearPattern {
  if (compilePattern === undefined) throw new Error(`no engine for the pattern ${pattern}`);
  return compilePattern(pattern);
}

/** Steps of a pattern before its first character. */
const testSteps = 24;

function withBudget(pattern: LinearPattern, budget: CheckBudget): LinearPattern {
  const test = (text: string) => {
    budget.spend(testSteps + text.length * pattern.stepsPerCharacter);
    return pattern.test(text);
  };
  return { ...pattern, test, toString: () => pattern.toString() };
}

/** Steps of writing a character of an item down. */
const writingSteps = 3;
const itemSteps = 24;

function areDifferent(list: readonly Json[], budget: CheckBudget): boolean {
  const texts = new Set<string>();
  for (const item of list) {
    const text = canonicalJson(item);
    budget.spend(itemSteps + text.length * writingSteps);
    texts.add(text);
  }
  return texts.size === list.length;
}

function issuesIn(errors: readonly ErrorObject[] | null | undefined): readonly Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of errors ?? []) {
    if (issues.size === limits.inputIssuesMax) break;
    // It only says that one of the errors beside it is in a branch.
    if (error.keyword === 'if') continue;
    const pointer = shortened(pointerOf(error));
    const message = shortened(messageOf(error));
    issues.set(`${pointer} ${message}`, { pointer, message });
  }
  return issues.size > 0 ? [...issues.values()] : [{ pointer: '', message: 'does not fit' }];
}

/** A member that is missing, or is one too many, is named by its own pointer. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const member: unknown =
    params['missingProperty'] ??
    params['additionalProperty'] ??
    params['unevaluatedProperty'] ??
    params['propertyName'];
  if (typeof member !== 'string') return instancePath;
  return `${instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is missing';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not declared';
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}`;
    case 'enum':
      return `must be one of ${values(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'false schema':
      return 'must not be there';
    default:
      // As our own messages are written.
      return message?.replace('must NOT', 'must not') ?? 'does not fit';
  }
}

function values(allowed: unknown): string {
  return Array.isArray(allowed) ? allowed.map((each) => JSON.stringify(each)).join(', ') : '';
}

function shortened(text: string): string {
  return text.length > textMaxCharacters
    ? `${text.slice(0, textMaxCharacters).toWellFormed()}…`
    : text;
}
