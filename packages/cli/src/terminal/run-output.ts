import type { Json } from '@convoke/sdk';
import { forOutput, print } from './output.ts';

/** Prints what an agent returned, as JSON, behind its text. */
export function printOutput(output: Json): void {
  print(forOutput(JSON.stringify(output, undefined, 2)));
}
