import { examineS3 } from '../../blobs/s3.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

/** Where files lie, if that is not simply the data folder. */
export async function examineBlobs({ cluster, databaseUrl }: Config): Promise<readonly Finding[]> {
  const { blobs } = cluster;
  if (blobs.kind === 'disk') {
    if (databaseUrl === undefined) return [];
    const text = 'in the data folder, which only this machine has';
    return [warned('files', text, 'set CONVOKE_BLOBS before a second machine joins')];
  }
  try {
    await examineS3(blobs);
    return [fine('files', `s3://${blobs.bucket}/${blobs.prefix} answers`)];
  } catch (error) {
    return [failed('files', messageOf(error), 'the server does not start before it is mended')];
  }
}
