import { expect, test } from 'vitest';
import { surfaces } from '../scripts/surface.ts';
import { textOf } from './repository.ts';

// A change of it is a change for users: review the diff of the file like one of the API.
test.each(Object.entries(surfaces))(
  '%s is what the package exports (`npm run reference` writes it)',
  async (path, make) => {
    expect(await make()).toBe(textOf(path));
  },
);
