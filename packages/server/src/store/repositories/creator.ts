import type { ApplicationActor } from '../../domain/access.ts';
import { type Field, type Written, made } from '../columns.ts';

interface WithCreator {
  readonly createdBy: ApplicationActor;
}

/** Who created a record: a client or a person. */
export function creator(written: Written = 'always'): Field<WithCreator, ApplicationActor> {
  return made(
    {
      created_by: { kind: 'text', write: ({ createdBy }) => createdBy.id, written },
      created_by_kind: { kind: 'text', write: ({ createdBy }) => createdBy.kind, written },
    },
    (row: { created_by: string; created_by_kind: ApplicationActor['kind'] }) => ({
      kind: row.created_by_kind,
      id: row.created_by,
    }),
  );
}
