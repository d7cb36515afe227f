import type { Json } from '@convoke/sdk';
import { exitCodes, Failure } from '../failure.ts';

/** The data of a message to a run, as it was typed; null without any. */
export function messageData(option: string, text: string | undefined): Json {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Failure(`${option}: the data is not JSON: ${text}`, exitCodes.usage);
  }
}
