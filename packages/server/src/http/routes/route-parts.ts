import type { ActorNames } from '../../app/actor-names.ts';
import type { Cursors } from '../cursors.ts';

/** The parts that the routes of records share. */
export interface RouteParts {
  readonly cursors: Cursors;
  readonly actorNames: ActorNames;
}
