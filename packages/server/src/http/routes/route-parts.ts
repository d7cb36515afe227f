import type { ActorNames } from '../../app/actor-names.ts';
import type { Cursors } from '../cursors.ts';

/** What the routes of records share. */
export interface RouteParts {
  readonly cursors: Cursors;
  readonly actorNames: ActorNames;
}
