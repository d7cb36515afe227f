// Vitest runs this before `services.ts`, which then uses what is named here.
import { startOwnPostgres, startsOwnPostgres } from './services.ts';

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  return startsOwnPostgres() ? startOwnPostgres() : undefined;
}
