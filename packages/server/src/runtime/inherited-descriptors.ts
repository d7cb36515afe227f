import { closeSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';

const closeOnExec = 0o2000000;
const standardErrorDescriptor = 2;
/** Paths of V8's files (`--prof`, `--perf-basic-prof`, `--log`): their names contain the process id. */
const ownFile = new RegExp(`^/.*(?<!\\d)${process.pid}(?!\\d)[^/]*$`);

/**
 * Closes the open files that the process which started this one left behind, and returns their descriptors. Node and
 * its libraries open everything close-on-exec, so any other descriptor above standard error was inherited and would be
 * inherited again, by the programs of agents. Only V8 does not. Its files stay open, because it would continue writing
 * to their numbers, which other files get after a close; the launch chain closes them for programs. Call it before
 * anything else is opened. Linux only.
 */
export function closeInheritedDescriptors(): readonly number[] {
  const inherited = openDescriptors().filter(
    (descriptor) => descriptor > standardErrorDescriptor && isInherited(descriptor),
  );
  for (const descriptor of inherited) closeSync(descriptor);
  return inherited;
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    const isKept = (Number.parseInt(flags, 8) & closeOnExec) === 0;
    return isKept && !ownFile.test(readlinkSync(`/proc/self/fd/${descriptor}`));
  } catch {
    // The descriptor with which the folder was read is closed by now.
    return false;
  }
}
