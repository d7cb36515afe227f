import type { Distribution, MetricReading } from './metric-reading.ts';

/** One metric in the text format of Prometheus. */
export function prometheusText({ described, points }: MetricReading): string {
  const { name, kind, means, labels: names, buckets = [] } = described;
  const lines = points.map(({ labels, value }) => {
    const text = names
      .map((label, index) => `${label}="${escaped(labels[index] ?? '')}"`)
      .join(',');
    if (typeof value === 'number') return line(name, text, value);
    return distributionText(value, { name, labels: text, buckets });
  });
  return `# HELP ${name} ${means}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
}

function distributionText(
  { counts, sum }: Distribution,
  of: { readonly name: string; readonly labels: string; readonly buckets: readonly number[] },
): string {
  const { name, labels, buckets } = of;
  const before = labels === '' ? '' : `${labels},`;
  let total = 0;
  let text = '';
  for (const [index, count] of counts.entries()) {
    total += count;
    text += line(`${name}_bucket`, `${before}le="${buckets[index] ?? '+Inf'}"`, total);
  }
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, total);
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
