import { crc32 } from 'node:zlib';

/** The first of January 1980, the oldest time that a zip can hold: the real one would make each build another file. */
const date = 0x0021;
/** UTF-8 names. */
const flags = 0x0800;
/** A regular file that everyone can read, as Unix writes it. */
const mode = 0o100644 << 16;
const madeByUnix = (3 << 8) | 20;

/**
 * A zip of files by path. They are stored as they are, because what compression makes depends on the version of zlib.
 */
export function zipOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const facts = factsOf(name, content);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, content]);
    directory.push(entry(facts, name, offset));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

/** What a file and its line in the directory say of it. */
function factsOf(name: Buffer, content: Buffer): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(flags, 2);
  facts.writeUInt16LE(date, 8);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(content.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return facts;
}

function entry(facts: Buffer, name: Buffer, offset: number): Buffer {
  const head = Buffer.alloc(6);
  head.write('PK\x01\x02', 'latin1');
  head.writeUInt16LE(madeByUnix, 4);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(mode >>> 0, 6);
  tail.writeUInt32LE(offset, 10);
  return Buffer.concat([head, facts, tail, name]);
}
