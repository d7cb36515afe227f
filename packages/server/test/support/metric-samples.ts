/** One line of Prometheus' text format. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleLine = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Reads the whole text strictly: a line that the format does not know is an error. */
export function readSamples(text: string): MetricSample[] {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended');
  const described = new Set<string>();
  return text
    .slice(0, -1)
    .split('\n')
    .flatMap((line) => {
      const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
      if (comment !== null) {
        const said = `${comment[1]} ${comment[2]}`;
        if (described.has(said)) throw new Error(`said twice: ${said}`);
        described.add(said);
        return [];
      }
      const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? [];
      const number = Number(value);
      if (name === '' || Number.isNaN(number)) throw new Error(`not a sample: ${line}`);
      const family = name.replace(/_(bucket|sum|count)$/, '');
      if (!described.has(`TYPE ${family}`) && !described.has(`TYPE ${name}`)) {
        throw new Error(`a sample before its type: ${line}`);
      }
      return [{ name, labels: readLabels(labels), value: number }];
    });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < text.length) {
    const [, name, value] = labelPair.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not labels: ${text}`);
    labels[name] = value;
  }
  return labels;
}

/** The value of the one sample with these labels, whatever others it has. */
export function sampleOf(
  samples: readonly MetricSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return samples.find(
    (sample) =>
      sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
  )?.value;
}
