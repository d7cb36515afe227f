import type { Services } from '../app/services.ts';
import type { Harness } from '../ports/harness.ts';

/** The services of the use cases, and the harness of each framework by its name. */
export type ExecutionServices = Services & { readonly harnesses: ReadonlyMap<string, Harness> };
