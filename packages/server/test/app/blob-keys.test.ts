import { fileId, tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { fileKey, filePrefix, tenantPrefix } from '../../src/app/files/blob-keys.ts';

const file = { tenantId: tenantId('ten_1'), id: fileId('file_1') };

test("two uploads of one file never share a key, and both have its prefix and its tenant's", () => {
  const keys = [fileKey(file, 'aaa'), fileKey(file, 'bbb')];
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key.startsWith(filePrefix(file))).toBe(true);
  expect(filePrefix(file).startsWith(tenantPrefix(file.tenantId))).toBe(true);
});
