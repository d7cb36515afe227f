import type { ConfinedError } from './files.ts';

/** Explains a failure to the model. Prompts and tool descriptions call the session folder "the workspace". */
export function confinedReason({ code }: ConfinedError): string {
  return reasons[code] ?? `it failed (${code})`;
}

const reasons: Readonly<Record<string, string>> = {
  EINVAL: 'its path must be relative and stay inside the workspace',
  ELOOP: 'its path leads through a link',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'its path names a folder',
  ENOENT: 'there is no such file',
  EACCES: 'the workspace does not permit it',
  ENOSPC: 'the disk is full',
};
