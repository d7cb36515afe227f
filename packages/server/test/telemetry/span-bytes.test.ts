import { SpanKind, type SpanContext } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SentSpan } from '../../src/telemetry/exporter.ts';
import { bytesOfSpans } from '../../src/telemetry/span-bytes.ts';

const hex = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdefABCDEF'.split('')),
    minLength: length,
    maxLength: length,
  });
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  // Halves of characters, which end where an answer was cut.
  fc.array(fc.nat(0xff_ff)).map((codes) => String.fromCharCode(...codes)),
  fc.string({ minLength: 100, maxLength: 300 }),
  fc.nat(40_000).map((length) => 'x'.repeat(length)),
);
const context: fc.Arbitrary<SpanContext> = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  traceFlags: fc.constantFrom(0, 1),
  isRemote: fc.boolean(),
});
const ms = fc.double({ min: 0, max: 4e12, noNaN: true });
const span = fc.record({
  context,
  parent: fc.option(context, { nil: undefined }),
  name: text,
  kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT),
  links: fc.array(
    context.map((to) => ({ context: to })),
    { maxLength: 3 },
  ),
  from: ms,
  to: ms,
  attributes: fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(text, fc.maxSafeNat(), fc.double({ min: 0, noNaN: true })),
  ),
  isError: fc.boolean(),
});

test('a batch of spans has the bytes that the SDK gives it', () => {
  const resource = resourceFromAttributes({ 'service.name': 'convoke', team: 'größer' });
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 5 }), (spans) => {
      const sent = spans.map((each) => new SentSpan(each, resource));
      const theirs = ProtobufTraceSerializer.serializeRequest(sent) ?? new Uint8Array();
      expect(Buffer.from(bytesOfSpans(sent)).equals(Buffer.from(theirs))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
