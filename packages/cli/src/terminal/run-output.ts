import type { Json } from '@convoke/sdk';
import { forOutput, print } from './output.ts';

/** Prints the output of an agent as JSON, after its text. */
export function printOutput(output: Json): void {
  print(forOutput(JSON.stringify(output, undefined, 2)));
}
