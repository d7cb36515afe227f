import { type FileRecord, type Files, ConvokeError, type RunRecord } from '@convoke/sdk';
import { oneLine, remark } from './output.ts';
import { uniqueLength } from './table.ts';

/** Further files are counted by `convoke files ls`, not listed. */
const shownMax = 10;

/** Prints the files that a run added to its session, each with the command that downloads it. */
export async function remarkWrittenFiles(files: Files, run: RunRecord): Promise<void> {
  const written = await writtenFiles(files, run);
  const lengths = process.stderr.isTTY ? shortLengths(written) : undefined;
  for (const file of written.slice(0, shownMax)) {
    remark(`${oneLine(file.name)} (${sizeText(file.size_bytes ?? 0)})`);
    remark(`  download with: ${downloadCommand(file, lengths)}`, 'dim');
  }
  if (written.length <= shownMax) return;
  remark(`and more files: convoke files ls ${run.session_id}`, 'dim');
}

/** The newest files of the session back to the start of the run, at most one more than is shown. */
async function writtenFiles(files: Files, run: RunRecord): Promise<FileRecord[]> {
  const written: FileRecord[] = [];
  const { started_at } = run;
  if (started_at === undefined) return written;
  const attached = new Set(Array.isArray(run.input['files']) ? run.input['files'] : []);
  try {
    for await (const file of files.list({ limit: 2 * shownMax })) {
      if (file.created_at < started_at || written.length > shownMax) break;
      if (file.status === 'ready' && !attached.has(file.id)) written.push(file);
    }
  } catch (error) {
    // Sessions without files, and callers that may not list them. The run has ended, which is enough here.
    if (!(error instanceof ConvokeError)) throw error;
  }
  return written;
}

/** Only a name that means nothing to a shell, and hides no file of the person, becomes part of the command. */
const harmlessName = /^[\p{L}\p{N}][\p{L}\p{N} ._,+@()-]*$/u;

/** Lengths to which ids are cut. */
interface IdLengths {
  readonly session: number;
  readonly file: number;
}

/** Commands complete ids, and at a terminal the line should fit. */
function shortLengths(files: readonly FileRecord[]): IdLengths {
  return {
    session: uniqueLength(files.map(({ session_id }) => session_id)),
    file: uniqueLength(files.map(({ id }) => id)),
  };
}

/** The agent chose the name: pasted into a shell, it must not do anything but name a file. */
export function downloadCommand({ session_id, id, name }: FileRecord, cut?: IdLengths): string {
  const target = harmlessName.test(name) ? name : id;
  const typed = /[ ()]/.test(target) ? `'${target}'` : target;
  return `convoke files get ${session_id.slice(0, cut?.session)} ${id.slice(0, cut?.file)} -o ${typed}`;
}

const units = ['bytes', 'KB', 'MB', 'GB'] as const;

/** Renders a size in the unit that keeps it below 1000: `30 bytes`, `1.2 KB`, `640 MB`. */
export function sizeText(sizeBytes: number): string {
  let size = sizeBytes;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  if (unit === 0) return `${size} ${size === 1 ? 'byte' : 'bytes'}`;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
