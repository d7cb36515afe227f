/** The fields of a protobuf message by number, as they came: numbers, or bytes. */
export type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>;

/** Decodes one message without its schema. */
export function fieldsOf(bytes: Uint8Array): Fields {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields = new Map<number, (bigint | Uint8Array)[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const taken = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const value = (type: number) => {
    if (type === 0) return varint();
    if (type === 1) return new DataView(copied(taken(8))).getBigUint64(0, true);
    if (type === 5) return BigInt(new DataView(copied(taken(4))).getUint32(0, true));
    if (type === 2) return taken(Number(varint()));
    throw new Error(`wire type ${type}`);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    values.push(value(tag & 7));
  }
  return fields;
}

export function messages(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).flatMap((value) =>
    typeof value === 'bigint' ? [] : [fieldsOf(value)],
  );
}

function bytesIn(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)?.[0];
  return value === undefined || typeof value === 'bigint' ? new Uint8Array() : value;
}

export function hexIn(fields: Fields, field: number): string {
  return Buffer.from(bytesIn(fields, field)).toString('hex');
}

export function textIn(fields: Fields, field: number): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytesIn(fields, field));
}

export function numberIn(fields: Fields, field: number): number {
  const value = fields.get(field)?.[0];
  return typeof value === 'bigint' ? Number(value) : 0;
}

export function doubleIn(fields: Fields, field: number): number {
  const value = fields.get(field)?.[0];
  if (typeof value !== 'bigint') return 0;
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value, true);
  return view.getFloat64(0, true);
}

/** A list of 64-bit numbers without tags. */
export function packedIn(fields: Fields, field: number): number[] {
  const bytes = bytesIn(fields, field);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 8 }, (_, index) =>
    Number(view.getBigUint64(index * 8, true)),
  );
}

function copied(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
