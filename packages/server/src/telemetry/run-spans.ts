import {
  type Link,
  ROOT_CONTEXT,
  type Span as RealSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  context,
  trace,
} from '@opentelemetry/api';
import type { RunId } from '@convoke/contract';
import { modelName } from '../domain/usage/model-name.ts';
import type { Run } from '../domain/run/run.ts';
import type { LegTrace, RunTraces, SpanAttributes, Times } from '../ports/traces.ts';
import { activeCaller, openLegs } from './caller-spans.ts';
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
import { type SpanSink, timeOf } from './span-sink.ts';
import {
  type SpanIds,
  idsOf,
  idsWithoutPart,
  parts,
  traceIdOf,
  traceparentOf,
} from './trace-ids.ts';

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
    if (isSampled(run.id)) open(sink, { run, facts, shape }).end(shape.attributes, shape.to);
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

interface OpenSpan {
  /** For the work that it is about. */
  readonly active: RealSpan;
  end(attributes: SpanAttributes, to: number): void;
}

function open(sink: SpanSink, opening: Opening): OpenSpan {
  return sink.send === undefined ? begun(sink.tracer, opening) : kept(sink.send, opening);
}

/** Of an SDK that chooses ids: the root is a sibling of the legs, below a span that is never sent (D-587). */
function begun(tracer: Tracer, { run, facts, shape }: Opening): OpenSpan {
  const { name, kind = SpanKind.INTERNAL, links = [], from } = shape;
  const above = trace.setSpanContext(ROOT_CONTEXT, shape.parent ?? rootOf(run));
  const attributes = ofRun(run, facts.agentOf(run));
  const options = { kind, startTime: timeOf(from), links: [...links], attributes };
  const span = tracer.startSpan(name, options, above);
  return {
    active: span,
    end: (more, to) => {
      span.setAttributes(more);
      if (isError(more)) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(timeOf(Math.max(from, to)));
    },
  };
}

/** Nothing but the ids exists before its end (D-932). */
function kept(send: NonNullable<SpanSink['send']>, { run, facts, shape }: Opening): OpenSpan {
  const { name, kind = SpanKind.INTERNAL, part, parent, links = [], from } = shape;
  const ids = part === undefined ? idsWithoutPart(run.id) : idsOf(run.id, part);
  const context = { ...ids, traceFlags: TraceFlags.SAMPLED };
  const shared = ofRun(run, facts.agentOf(run));
  return {
    active: trace.wrapSpanContext(context),
    end: (more, lastMs) => {
      const attributes = { ...shared, ...more };
      const to = Math.max(from, lastMs);
      send({ context, parent, name, kind, links, from, to, attributes, isError: isError(more) });
    },
  };
}

function isError(attributes: SpanAttributes): boolean {
  return 'error.type' in attributes;
}

function legSpan(sink: SpanSink, opening: Opening): LegTrace {
  const { run, facts, shape } = opening;
  const { leaseEpoch: epoch } = run;
  const leg = open(sink, opening);
  const parent = leg.active.spanContext();
  const child = (part: Omit<Shape, 'parent'>) => {
    open(sink, { run, facts, shape: { ...part, parent } }).end(part.attributes, part.to);
  };
  const traceparent = traceparentOf(parent, true);
  openLegs.add(leg.active);
  return {
    traceparent,
    callParent: (call) =>
      sink.send === undefined
        ? traceparent
        : traceparentOf(idsOf(run.id, parts.call(epoch, call)), true),
    within: (work) => context.with(trace.setSpan(context.active(), leg.active), work),
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
    end: ({ outcome, error, to }) => {
      openLegs.delete(leg.active);
      leg.end({ ...shape.attributes, ...ofLegEnd(outcome, error) }, to);
    },
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
