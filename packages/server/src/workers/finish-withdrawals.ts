import { type WithdrawingServices, finishWithdrawals } from '../app/withdrawals.ts';
import type { Pass } from './driver.ts';

/** What the driver runs for withdrawals of access, by name. */
export function revocationPasses(services: WithdrawingServices): Record<string, Pass> {
  return { 'finishing withdrawals of access': () => finishWithdrawals(services) };
}
