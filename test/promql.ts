// Finds what a query in PromQL asks for that the server does not have. It reads as much of the language as our own
// queries use.
import {
  type MetricDescription,
  metricTable,
} from '../packages/server/src/telemetry/metric-table.ts';

/** What Prometheus itself adds to every sample. */
const addedLabels = ['job', 'instance'];

/** Metrics and labels that there are not, in the order of the text. */
export function promqlProblems(query: string): string[] {
  const bare = query.replace(/"[^"]*"/g, '""');
  const metrics = [...bare.matchAll(/\b(convoke_\w+)\b/g)].map(([, name = '']) => name);
  const known = metrics.flatMap((name) => labelsOf(name) ?? []);
  const isNamed = metrics.length > 0 || /\bup\b/.test(bare);
  return [
    ...(isNamed ? [] : ['no metric']),
    ...metrics.filter((name) => labelsOf(name) === undefined),
    ...labelsIn(bare).filter((label) => ![...known, ...addedLabels].includes(label)),
  ];
}

/** The labels of a series as it is shown; undefined when there is none of that name. */
function labelsOf(name: string): readonly string[] | undefined {
  for (const described of Object.values<MetricDescription>(metricTable)) {
    if (described.kind !== 'histogram') {
      if (described.name === name) return described.labels;
      continue;
    }
    if (name === `${described.name}_bucket`) return [...described.labels, 'le'];
    if (name === `${described.name}_sum` || name === `${described.name}_count`) {
      return described.labels;
    }
  }
  return undefined;
}

function labelsIn(query: string): string[] {
  const selected = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
    Array.from(inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
  );
  const grouped = [...query.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(
    ([, inside = '']) => inside.split(',').map((label) => label.trim()),
  );
  return [...selected, ...grouped];
}
