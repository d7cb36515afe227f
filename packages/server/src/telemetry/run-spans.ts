import {
  type Context,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span as RealSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  context,
  trace,
} from '@opentelemetry/api';
import type { RunId } from '@convoke/contract';
import { modelName } from '../domain/usage/model-name.ts';
import type { Run } from '../domain/run/run.ts';
import type { LegTrace, RunTraces, SpanAttributes, Times } from '../ports/traces.ts';
import { activeCaller } from './caller-spans.ts';
import {
  type TracedAgent,
  ofCall,
  ofLeg,
  ofLegEnd,
  ofRequest,
  ofRoot,
  ofRun,
  ofStart,
  ofWait,
} from './span-attributes.ts';
import type { SpanSink } from './span-sink.ts';
import { type SpanIds, idsOf, parts, traceIdOf, traceparentOf } from './trace-ids.ts';

export interface SpanFacts {
  readonly agentOf: (run: Run) => TracedAgent;
  /** Whether spans hold what the log shows (D-585). */
  readonly hasContent: boolean;
}

interface Shape extends Times {
  readonly name: string;
  readonly kind?: SpanKind;
  /** Absent: its span id is random. */
  readonly part?: string;
  /** Absent: it is the root. */
  readonly parent?: SpanContext;
  readonly links?: readonly Link[];
  readonly attributes: SpanAttributes;
}

export function runSpans(sink: SpanSink, facts: SpanFacts): RunTraces {
  const isSampled = (id: RunId) => sink.isSampled(traceIdOf(id));
  const record = (run: Run, shape: Shape) => {
    if (isSampled(run.id)) end(open(sink, { run, facts, shape }), shape.attributes, shape.to);
  };
  return {
    traceId: (id) => (isSampled(id) ? traceIdOf(id) : undefined),

    started(run, times) {
      const caller = activeCaller();
      const links = caller === undefined ? [] : [{ context: caller }];
      const shape = { ...times, name: 'convoke.start', part: parts.start, links };
      record(run, { ...shape, parent: rootOf(run), attributes: ofStart });
    },

    ended(run) {
      const agent = facts.agentOf(run);
      record(run, {
        name: `invoke_agent ${run.agentName}`,
        kind: agent.framework === 'a2a' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        part: parts.root,
        attributes: ofRoot(run, agent, facts.hasContent),
        from: run.createdAt,
        to: run.endedAt,
      });
    },

    waited(run, wait) {
      const { key, createdAt } = wait.interaction;
      record(run, {
        name: 'convoke.await_person',
        part: parts.wait(key),
        parent: rootOf(run),
        attributes: ofWait(wait),
        from: createdAt,
        to: wait.to,
      });
    },

    lost(run, times) {
      const attributes = { ...ofLeg(run.leaseEpoch), ...ofLegEnd('lost', 'worker_lost') };
      record(run, { ...legShape(run), ...times, attributes });
    },

    leg(run, from) {
      const shape = { ...legShape(run), from, to: from, attributes: ofLeg(run.leaseEpoch) };
      if (!isSampled(run.id)) return unsampledLeg(run);
      return legSpan(sink, { run, facts, shape });
    },
  };
}

interface Opening {
  readonly run: Run;
  readonly facts: SpanFacts;
  readonly shape: Shape;
}

function open(sink: SpanSink, { run, facts, shape }: Opening): RealSpan {
  const { name, kind = SpanKind.INTERNAL, part, links = [], from, attributes } = shape;
  // Where ids cannot be chosen the root is a sibling of the legs, below a span that is never sent.
  const parent = shape.parent ?? (sink.withIds === undefined ? rootOf(run) : undefined);
  const above: Context =
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  const all = { ...ofRun(run, facts.agentOf(run)), ...attributes };
  const options = { kind, startTime: time(from), links: [...links], attributes: all };
  const start = () => sink.tracer.startSpan(name, options, above);
  if (part === undefined || sink.withIds === undefined) return start();
  return sink.withIds(idsOf(run.id, part), start);
}

function end(span: RealSpan, attributes: SpanAttributes, to: number): void {
  span.setAttributes(attributes);
  if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(time(to));
}

function legSpan(sink: SpanSink, opening: Opening): LegTrace {
  const { run, facts, shape } = opening;
  const { leaseEpoch: epoch } = run;
  const leg = open(sink, opening);
  const parent = leg.spanContext();
  const child = (part: Omit<Shape, 'parent'>) => {
    const span = open(sink, { run, facts, shape: { ...part, parent } });
    end(span, part.attributes, Math.max(part.from, part.to));
  };
  const traceparent = traceparentOf(parent, true);
  return {
    traceparent,
    callParent: (call) =>
      sink.withIds === undefined
        ? traceparent
        : traceparentOf(idsOf(run.id, parts.call(epoch, call)), true),
    within: (work) => context.with(trace.setSpan(context.active(), leg), work),
    called: (call) =>
      child({
        name: `execute_tool ${call.name}`,
        part: parts.call(epoch, call.id),
        attributes: ofCall(call, facts.hasContent),
        from: call.from,
        to: call.to,
      }),
    asked: (request) =>
      child({
        name: `chat ${modelName(request.model)}`,
        kind: SpanKind.CLIENT,
        attributes: ofRequest(request),
        from: request.from,
        to: request.to,
      }),
    end: ({ outcome, error, to }) => end(leg, ofLegEnd(outcome, error), Math.max(shape.from, to)),
  };
}

/** What it starts knows the trace, and that it is not sampled. */
function unsampledLeg(run: Run): LegTrace {
  const traceparent = traceparentOf(idsOf(run.id, parts.leg(run.leaseEpoch)), false);
  return {
    traceparent,
    callParent: () => traceparent,
    within: (work) => work(),
    called() {},
    asked() {},
    end() {},
  };
}

function legShape(run: Run) {
  const { id, leaseEpoch: epoch } = run;
  const before = { context: contextOf(idsOf(id, parts.leg(epoch - 1))) };
  const links = epoch > 1 ? [before] : [];
  return { name: 'convoke.leg', part: parts.leg(epoch), parent: rootOf(run), links };
}

function rootOf({ id }: Run): SpanContext {
  return contextOf(idsOf(id, parts.root));
}

function contextOf(ids: SpanIds): SpanContext {
  return { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Seconds and nanoseconds: a number alone could be read as the time of a monotonic clock. */
function time(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}
