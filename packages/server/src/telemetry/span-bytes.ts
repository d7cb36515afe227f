import type { HrTime, Link } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** Fields of OTLP that have a length, as protobuf writes their number and type in one byte. */
const field = (number: number) => (number << 3) | 2;
const isRemote = 0x3_00;
const isLocal = 0x1_00;

/**
 * A batch of spans in protobuf, byte for byte what the serializer of the SDK writes. That one goes through every text
 * three times, and takes three times as long, which is most of what an exported run costs (D-932).
 * All spans are of one resource and one scope, without events, and attributes are texts and numbers.
 */
export function bytesOfSpans(spans: readonly ReadableSpan[]): Uint8Array {
  const writer = new Writer(spans.length * 1024 + 4096);
  const [first] = spans;
  if (first === undefined) return writer.written();
  const wholeAt = writer.open(field(1));
  const resourceAt = writer.open(field(1));
  for (const [key, value] of Object.entries(first.resource.attributes)) {
    writer.attribute(field(1), key, value as string | number);
  }
  writer.number(2 << 3, 0);
  writer.close(resourceAt);
  const scopeAt = writer.open(field(2));
  const nameAt = writer.open(field(1));
  writer.text(field(1), first.instrumentationScope.name);
  writer.close(nameAt);
  for (const span of spans) writeSpan(writer, span);
  writer.close(scopeAt);
  writer.close(wholeAt);
  return writer.written();
}

function writeSpan(writer: Writer, span: ReadableSpan): void {
  const { spanId, traceId, traceFlags, traceState } = span.spanContext();
  const parent = span.parentSpanContext;
  const at = writer.open(field(2));
  writer.hex(field(1), traceId);
  writer.hex(field(2), spanId);
  if (traceState !== undefined) writer.text(field(3), traceState.serialize());
  if (parent !== undefined) writer.hex(field(4), parent.spanId);
  writer.text(field(5), span.name);
  writer.number(6 << 3, span.kind + 1);
  writer.time((7 << 3) | 1, span.startTime);
  writer.time((8 << 3) | 1, span.endTime);
  const { attributes } = span;
  for (const key in attributes) writer.attribute(field(9), key, attributes[key] as string | number);
  // What was left out: nothing.
  writer.number(10 << 3, 0);
  writer.number(12 << 3, 0);
  for (const link of span.links) writeLink(writer, link);
  writer.number(14 << 3, 0);
  const statusAt = writer.open(field(15));
  writer.number(3 << 3, span.status.code);
  writer.close(statusAt);
  writer.flags(16, traceFlags | (parent?.isRemote === true ? isRemote : isLocal));
  writer.close(at);
}

function writeLink(writer: Writer, { context }: Link): void {
  const at = writer.open(field(13));
  writer.hex(field(1), context.traceId);
  writer.hex(field(2), context.spanId);
  writer.number(5 << 3, 0);
  writer.flags(6, context.traceFlags | (context.isRemote === true ? isRemote : isLocal));
  writer.close(at);
}

/** Writes fields one after the other. A message gets its length once it is closed. */
class Writer {
  #bytes: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Two bytes are left for the length. */
  open(tag: number): number {
    this.#reserve(8);
    this.#bytes[this.#at] = tag;
    this.#at += 3;
    return this.#at;
  }

  close(from: number): void {
    const length = this.#at - from;
    const size = length < 0x80 ? 1 : length < 0x40_00 ? 2 : length < 0x20_00_00 ? 3 : 4;
    if (size !== 2) {
      this.#reserve(4);
      this.#bytes.copyWithin(from - 2 + size, from, this.#at);
    }
    this.#at = from - 2;
    this.#varint(length);
    this.#at += length;
  }

  attribute(tag: number, key: string, value: string | number): void {
    const at = this.open(tag);
    this.text(field(1), key);
    const valueAt = this.open(field(2));
    if (typeof value === 'string') this.text(field(1), value);
    else if (Number.isInteger(value) && value >= 0 && value < 2 ** 63) this.number(3 << 3, value);
    else this.#double((4 << 3) | 1, value);
    this.close(valueAt);
    this.close(at);
  }

  text(tag: number, text: string): void {
    const { length } = text;
    this.#reserve(length * 3 + 8);
    const start = this.#at;
    this.#bytes[this.#at++] = tag;
    this.#varint(length);
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.#at = start + 1;
        this.#varint(Buffer.byteLength(text));
        this.#at += this.#bytes.write(text, this.#at);
        return;
      }
      this.#bytes[this.#at++] = code;
    }
  }

  hex(tag: number, digits: string): void {
    this.#reserve(digits.length + 8);
    this.#bytes[this.#at++] = tag;
    this.#bytes[this.#at++] = digits.length / 2;
    for (let index = 0; index < digits.length; index += 2) {
      this.#bytes[this.#at++] =
        (digit(digits.charCodeAt(index)) << 4) | digit(digits.charCodeAt(index + 1));
    }
  }

  number(tag: number, value: number): void {
    this.#reserve(16);
    this.#bytes[this.#at++] = tag;
    this.#varint(value);
  }

  flags(number: number, value: number): void {
    this.#reserve(16);
    this.#varint((number << 3) | 5);
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
  }

  /** Nanoseconds, which are more than a number can hold. */
  time(tag: number, [seconds, nanoseconds]: HrTime): void {
    this.#reserve(16);
    this.#bytes[this.#at++] = tag;
    const upper = Math.floor(seconds / 0x1_00_00) * 1e9;
    const lower = (seconds % 0x1_00_00) * 1e9 + nanoseconds;
    const low = (upper % 0x1_00_00) * 0x1_00_00 + (lower % 2 ** 32);
    const high = Math.floor(upper / 0x1_00_00) + Math.floor(lower / 2 ** 32);
    this.#at = this.#bytes.writeUInt32LE(low % 2 ** 32, this.#at);
    this.#at = this.#bytes.writeUInt32LE(high + Math.floor(low / 2 ** 32), this.#at);
  }

  #double(tag: number, value: number): void {
    this.#reserve(16);
    this.#bytes[this.#at++] = tag;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe((this.#bytes.length + size) * 2);
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Of either case: a caller's ids come from an SDK of the operator, too. */
function digit(code: number): number {
  return code < 0x3a ? code - 0x30 : (code | 0x20) - 0x57;
}
