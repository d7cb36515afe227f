import type { Services } from '../app/services.ts';
import type { Harness } from '../ports/harness.ts';

/** What executing a run needs beyond the use cases: the harness of each framework, by its name. */
export type ExecutionServices = Services & { readonly harnesses: ReadonlyMap<string, Harness> };
