import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { microsOf } from '../domain/usage/money.ts';
import { type Prices, noPrices } from '../domain/usage/prices.ts';
import { errorCode } from '../runtime/error-code.ts';
import { problemsOf } from './problems.ts';
import { describeProblems, parseYaml } from './yaml-source.ts';

const fileMaxBytes = 1024 * 1024;
const modelsMax = 1000;

/** An amount for a million tokens, as price lists print it. */
const amount = z.union([z.number(), z.string()]).transform((value, context) => {
  const micros = microsOf(String(value));
  if (micros !== undefined) return micros;
  context.addIssue('must be an amount such as 2.50, from 0, with at most 6 decimals');
  return z.NEVER;
});

const pricesSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters, such as USD')
    .default(noPrices.currency),
  unpriced: z.enum(['refuse', 'allow']).default(noPrices.unpriced),
  models: z
    .record(
      z.string().min(1).max(200),
      z.strictObject({ input: amount, output: amount, cached_input: amount.optional() }),
    )
    .refine((models) => Object.keys(models).length <= modelsMax, {
      error: `must not have more than ${modelsMax} entries`,
    }),
});

/** The file is missing or wrong; the message names the place. The command line reports it like any wrong setting. */
class PricesFileError extends Error {
  override readonly name = 'WrongSetting';
}

/** Reads `prices.yaml` (D-131). Without a path there are no prices. */
export async function readPrices(path: string | undefined): Promise<Prices> {
  if (path === undefined) return noPrices;
  try {
    return parsePrices(basename(path), await readText(path));
  } catch (error) {
    const code = errorCode(error);
    const reason = code === undefined && error instanceof Error ? error.message : undefined;
    throw new PricesFileError(
      `CONVOKE_PRICES=${path}: ${reason ?? `cannot be read (${code ?? 'unknown'})`}`,
      { cause: error },
    );
  }
}

async function readText(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > fileMaxBytes) throw new Error(`is larger than ${fileMaxBytes} bytes`);
  return readFile(path, 'utf8');
}

function parsePrices(name: string, text: string): Prices {
  const source = parseYaml(name, text);
  const parsed = pricesSchema.safeParse(source.value);
  if (!parsed.success) {
    throw new Error(describeProblems(source, problemsOf(parsed.error, pricesSchema)));
  }
  const { currency, unpriced, models } = parsed.data;
  return {
    currency,
    unpriced,
    models: Object.entries(models).map(([glob, { input, output, cached_input }]) => ({
      glob,
      input,
      output,
      cachedInput: cached_input,
    })),
  };
}
