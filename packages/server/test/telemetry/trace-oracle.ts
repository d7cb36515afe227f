import type { ReceivedSpan } from './span-receiver.ts';

/** What the spans of one run must never be, one line a violation: call it once everything was exported (D-582). */
export function traceProblems(spans: readonly ReceivedSpan[]): string[] {
  const traces = new Set(spans.map(({ traceId }) => traceId));
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === '');
  const legs = spans.filter(({ name }) => name === 'convoke.leg').length;
  return [
    ...(traces.size === 1 ? [] : [`${traces.size} traces`]),
    ...(roots.length === 1 ? [] : [`${roots.length} roots`]),
    ...roots
      .filter(({ name }) => !name.startsWith('invoke_agent '))
      .map(({ name }) => `the root is ${name}`),
    ...roots.flatMap(({ attributes: { 'convoke.legs': all = 0 } }) =>
      legs === all ? [] : [`${legs} of ${all} legs`],
    ),
    ...spans
      .filter(({ parentSpanId }) => parentSpanId !== '' && !ids.has(parentSpanId))
      .map(({ name }) => `${name} has a parent that was not sent`),
    ...spans.filter(({ from, to }) => to < from).map(({ name }) => `${name} ends before it begins`),
  ];
}

/** The one that has no parent. */
export function rootIn(spans: readonly ReceivedSpan[]): ReceivedSpan | undefined {
  return spans.find(({ parentSpanId }) => parentSpanId === '');
}

/** Name and parent of each span, sorted, to compare a whole tree. */
export function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans.map(({ name, parentSpanId }) => `${name} < ${names.get(parentSpanId) ?? ''}`).sort();
}
