import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { examineS3 } from '../../blobs/s3.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

/** Checks the file store, unless it is the data folder of a single server. */
export async function examineBlobs({ cluster, databaseUrl }: Config): Promise<readonly Finding[]> {
  const { blobs } = cluster;
  if (blobs.kind === 'disk') {
    if (blobs.folder !== undefined) return [await examineFolder(blobs.folder)];
    if (databaseUrl === undefined) return [];
    const text = 'stored in the data folder of this machine only';
    return [warned('files', text, 'set CONVOKE_BLOBS before you add a second machine')];
  }
  try {
    await examineS3(blobs);
    return [fine('files', `s3://${blobs.bucket}/${blobs.prefix} responds`)];
  } catch (error) {
    return [
      failed(
        'files',
        messageOf(error),
        'fix this first: the server does not start without its file store',
      ),
    ];
  }
}

/** Checks that the shared folder exists and that this user may create files in it. */
async function examineFolder(folder: string): Promise<Finding> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return fine('files', `stored in ${folder}, which all servers must share`);
  } catch (error) {
    const advice = 'create the folder, or give it to the user who runs the server';
    return failed('files', messageOf(error), advice);
  }
}
