import type { SystemRecord } from '@convoke/contract';
import type { OpenServices } from './services.ts';

/** What agents can be built on, on this server. Agents that are programs need the sandbox, some a package as well. */
export async function describeFrameworks({
  harnesses,
  sandbox,
}: Pick<OpenServices, 'harnesses' | 'sandbox'>): Promise<SystemRecord['frameworks']> {
  const { level, problems } = await sandbox.describe();
  return [...harnesses.values()].map((harness) => {
    const { framework: name, runsPrograms = false } = harness;
    const lacking = harness.lacks?.();
    if (lacking !== undefined) return { name, ready: false, reason: lacking };
    if (!runsPrograms || level !== 'nothing') return { name, ready: true };
    return { name, ready: false, reason: problems[0] ?? 'The sandbox cannot be used here.' };
  });
}
