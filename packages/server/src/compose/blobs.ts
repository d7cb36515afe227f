import { openDiskBlobs } from '../blobs/disk.ts';
import { openS3Blobs } from '../blobs/s3.ts';
import type { Config } from '../config/config.ts';
import type { Blobs } from '../ports/blobs.ts';

export async function openBlobs({
  dataDir,
  cluster,
}: Pick<Config, 'dataDir' | 'cluster'>): Promise<Blobs> {
  const { blobs } = cluster;
  return blobs.kind === 's3' ? openS3Blobs({ ...blobs, dataDir }) : openDiskBlobs({ dataDir });
}
