import { openDiskBlobs } from '../blobs/disk.ts';
import { openS3Blobs } from '../blobs/s3.ts';
import type { Config } from '../config/config.ts';
import type { Blobs } from '../ports/blobs.ts';

export async function openBlobs({
  dataDir,
  cluster,
}: Pick<Config, 'dataDir' | 'cluster'>): Promise<Blobs> {
  const { blobs } = cluster;
  if (blobs.kind === 's3') return openS3Blobs({ ...blobs, dataDir });
  return openDiskBlobs({ dataDir, shared: blobs.folder });
}
