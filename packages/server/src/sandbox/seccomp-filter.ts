import { constants } from 'node:os';
import { architectures, conditionalCalls, newestKnownCall, refusedCalls } from './system-calls.ts';

/** One instruction of classic BPF. Jumps skip as many of the following instructions. */
interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
}

const instructionBytes = 8;
/** Instruction codes, from linux/bpf_common.h. */
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfAnyBit = 0x45;
const giveBack = 0x06;
/** Results, from linux/seccomp.h. */
const allow = 0x7fff_0000;
const killProcess = 0x8000_0000;
const failWith = 0x0005_0000;
/** Offsets in `struct seccomp_data`; the lower half of the first argument, on a little-endian machine. */
const callNumber = 0;
const architectureNumber = 4;
const firstArgument = 16;
/** CLONE_NEWUSER, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID and NEWNET. */
const newNamespaces = 0x7e02_0000;
const cloneNewTime = 0x80;
/**
 * Sockets of the kernel's cryptography (AF_ALG) and to the hypervisor (AF_VSOCK), which no network namespace contains.
 */
const refusedFamilies = [38, 40];
const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;

/**
 * The seccomp program that bubblewrap loads before it executes a program, for `--seccomp`; `undefined` for an
 * architecture that has no table. Calls of another architecture (32-bit programs) kill the program. Calls that are
 * newer than the table, among them those of the x32 ABI, do not exist for it (ENOSYS), as on an older kernel.
 */
export function seccompFilter(architecture: string): Buffer | undefined {
  const found = architectures[architecture];
  if (found === undefined) return undefined;
  const { column, auditNumber } = found;
  const { clone, clone3, unshare, socket } = conditionalCalls;
  const refused = Object.values(refusedCalls).flatMap((numbers) => numbers[column] ?? []);
  return encode([
    { code: load, value: architectureNumber },
    { code: jumpIfEqual, value: auditNumber, ifTrue: 1 },
    answer(killProcess),
    { code: load, value: callNumber },
    ...when(jumpIfGreater, newestKnownCall, [fail(ENOSYS)]),
    ...refused.flatMap((number) => when(jumpIfEqual, number, [fail(EPERM)])),
    // Its flags are in memory that a filter cannot read; the C library falls back to `clone`.
    ...when(jumpIfEqual, clone3[column], [fail(ENOSYS)]),
    ...when(jumpIfEqual, clone[column], refuseFlags(newNamespaces)),
    ...when(jumpIfEqual, unshare[column], refuseFlags(newNamespaces | cloneNewTime)),
    ...when(jumpIfEqual, socket[column], [
      { code: load, value: firstArgument },
      ...refusedFamilies.flatMap((family) => when(jumpIfEqual, family, [fail(EAFNOSUPPORT)])),
      answer(allow),
    ]),
    answer(allow),
  ]);
}

function refuseFlags(flags: number): readonly Instruction[] {
  return [
    { code: load, value: firstArgument },
    ...when(jumpIfAnyBit, flags, [fail(EPERM)]),
    answer(allow),
  ];
}

function when(code: number, value: number, then: readonly Instruction[]): readonly Instruction[] {
  return [{ code, value, ifFalse: then.length }, ...then];
}

function fail(errorNumber: number): Instruction {
  return answer(failWith | errorNumber);
}

function answer(value: number): Instruction {
  return { code: giveBack, value };
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * instructionBytes);
  for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of program.entries()) {
    const at = index * instructionBytes;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}
