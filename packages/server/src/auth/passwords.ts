import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { refuse } from '../app/refusal.ts';

/**
 * Passwords of people, kept as argon2id with a salt each (RFC 9106). The cost is paid by whoever checks, so
 * only a few are checked at once and few may wait: a flood of attempts must not take the machine.
 */
export interface Passwords {
  /** What is stored: the PHC string format, which says how it was made. */
  hash(password: string): Promise<string>;
  /** Without a hash it takes as long, and is false. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

/** OWASP's smaller setting: 19 MiB and two passes, about 50 ms. */
const argon2Cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagBytes = 32;
const saltBytes = 16;
const concurrentMax = 2;
const waitingMax = 32;

export function createPasswords(): Passwords {
  const inTurn = createTurns();
  /** A hash that no password matches: without a stored one the check takes as long. */
  const unmatchable = phc({
    ...argon2Cost,
    salt: randomBytes(saltBytes),
    tag: randomBytes(tagBytes),
  });
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const tag = await inTurn(() =>
        derive(password, { ...argon2Cost, salt, tagLength: tagBytes }),
      );
      return phc({ ...argon2Cost, salt, tag });
    },
    async matches(password, hash) {
      const made = parsePhc(hash ?? unmatchable);
      if (made === undefined) throw new Error('a stored password is not in the PHC format');
      const { salt, tag, ...cost } = made;
      const request = { ...cost, salt, tagLength: tag.length };
      const given = await inTurn(() => derive(password, request));
      return timingSafeEqual(given, tag) && hash !== undefined;
    },
  };
}

type DeriveRequest = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism' | 'tagLength'> & {
  readonly salt: Buffer;
};

const argon2Async = promisify(argon2);

function derive(password: string, { salt, ...cost }: DeriveRequest): Promise<Buffer> {
  return argon2Async('argon2id', { message: password.normalize('NFC'), nonce: salt, ...cost });
}

interface Made {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function phc({ memory, passes, parallelism, salt, tag }: Made): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(tag)}`;
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parsePhc(text: string): Made | undefined {
  const [, memory, passes, parallelism, salt, tag] = phcPattern.exec(text) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** Lets a few work at once and a few more wait; the rest is told to come back. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let working = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (working >= concurrentMax) {
      if (waiting.length >= waitingMax) refuse('rate_limited', { retryAfterSeconds: 2 });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      working += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
}

/** Without what is easily mistaken for something else. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const groups = 5;
const groupCharacters = 4;

/** A hundred random bits, in groups that can be read out and typed. */
export function makeOneTimePassword(): string {
  const letters = Array.from(randomBytes(groups * groupCharacters), (byte) => alphabet[byte % 32]);
  return Array.from({ length: groups }, (_, group) =>
    letters.slice(group * groupCharacters, (group + 1) * groupCharacters).join(''),
  ).join('-');
}
