import { fireSlot } from '../app/schedules/fire-slot.ts';
import type { StartServices } from '../app/runs/start-run.ts';

const perPass = 100;

/** Starts the runs of schedules whose slot has come (D-141). A schedule that fails holds up no other. */
export async function fireSchedules(services: StartServices): Promise<boolean> {
  const { store, clock } = services;
  const due = await store.read.schedules.due(clock.now(), perPass);
  const failures: unknown[] = [];
  for (const id of due) {
    await fireSlot(services, id).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'schedules could not be dealt with');
  return due.length === perPass;
}
