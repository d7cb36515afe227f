import { type WithdrawingServices, finishWithdrawal } from '../app/withdrawals.ts';

const perPass = 16;

/** Resumes withdrawals of access that a slow credential provider or a crash left unfinished. */
export async function finishWithdrawals(services: WithdrawingServices): Promise<boolean> {
  const due = await services.store.read.withdrawals.due(services.clock.now(), perPass);
  for (const withdrawal of due) await finishWithdrawal(services, withdrawal);
  return due.length === perPass;
}
