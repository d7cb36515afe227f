/**
 * The load generator: a process of its own that does what the parent asks over the channel, one slice at a
 * time, and answers with figures. It ends when the parent does.
 */
import type { Address } from './client.ts';
import type { Usage } from './probe.ts';
import type { Figures, Scale } from './scenario.ts';
import { scenarios } from './scenarios/all.ts';

export interface SliceOrder {
  readonly kind: 'slice';
  readonly scenario: string;
  readonly address: Address;
  readonly scale: Scale;
}

export type ToLoad = SliceOrder | { readonly kind: 'usage'; readonly usage: Usage };

export type FromLoad =
  | { readonly kind: 'usage'; readonly ask: 'usage' | 'collected' }
  | { readonly kind: 'figures'; readonly figures: Figures }
  | { readonly kind: 'failed'; readonly reason: string };

let onUsage: (usage: Usage) => void = () => {};

process.on('message', (message: ToLoad) => {
  if (message.kind === 'usage') onUsage(message.usage);
  else void perform(message).then(tell);
});
process.on('disconnect', () => process.exit());

async function perform({ scenario: id, address, scale }: SliceOrder): Promise<FromLoad> {
  const scenario = scenarios.find((known) => known.id === id);
  if (scenario === undefined) return { kind: 'failed', reason: `there is no scenario ${id}` };
  try {
    return { kind: 'figures', figures: await scenario.slice({ address, scale, usage }) };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

function usage(ask: 'usage' | 'collected'): Promise<Usage> {
  return new Promise((resolve) => {
    onUsage = resolve;
    tell({ kind: 'usage', ask });
  });
}

function tell(message: FromLoad): void {
  process.send?.(message);
}
