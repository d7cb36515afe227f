import type { Reporter, TestModule } from 'vitest/node';

const shown = 10;

/** Prints the files that took longest, so that a slow one is noticed by the person who made it slow. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ path: module.relativeModuleId, ms: module.diagnostic().duration }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, shown);
    const lines = files.map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${path}`);
    process.stdout.write(`\nSlowest files:\n${lines.join('\n')}\n`);
  }
}
