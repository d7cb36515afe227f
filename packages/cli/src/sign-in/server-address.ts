import { exitCodes, Failure } from '../failure.ts';

export const defaultAddress = 'http://127.0.0.1:8787';

/** Reads CONVOKE_BASE_URL, which selects the server of every command that calls one; undefined if it is not set. */
export function readAddress(): string | undefined {
  const given = process.env['CONVOKE_BASE_URL'];
  if (given === undefined || given === '') return undefined;
  if (/^https?:/i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '');
  throw new Failure(
    `CONVOKE_BASE_URL=${given} is not an address such as https://convoke.example`,
    exitCodes.usage,
  );
}
