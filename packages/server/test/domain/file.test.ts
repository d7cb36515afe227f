import { fileId, organizationId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { type File, blobKey, blobPrefix, receiveContent } from '../../src/domain/file.ts';

const pending: File = {
  id: fileId('file_1'),
  organizationId: organizationId('org_1'),
  tenantId: tenantId('ten_1'),
  sessionId: sessionId('sess_1'),
  name: 'a.txt',
  contentType: 'text/plain',
  sizeBytes: null,
  sha256: null,
  status: 'pending',
  createdAt: 1,
};
const content = { sizeBytes: 3, sha256: 'aaa' };
const ready: File = { ...pending, ...content, status: 'ready' };

describe('bytes that arrive (D-41)', () => {
  test.each([
    ['nothing', {}],
    ['the size', { sizeBytes: 3 }],
    ['the digest', { sha256: 'aaa' }],
    ['both', content],
  ])('that match what was declared (%s) make the file ready', (_, declared) => {
    expect(receiveContent({ ...pending, ...declared }, content)).toEqual({
      ok: true,
      value: { file: ready, repeated: false },
    });
  });

  test.each([
    ['size', { sizeBytes: 4 }],
    ['digest', { sha256: 'bbb' }],
  ])('of another %s are refused, and the message names both', (_, declared) => {
    expect(receiveContent({ ...pending, ...declared }, content)).toMatchObject({
      ok: false,
      code: 'content_mismatch',
      message: expect.stringMatching(/declared .+, received .+/),
    });
  });

  test('that the file has already are harmless, others are refused', () => {
    expect(receiveContent(ready, content)).toEqual({
      ok: true,
      value: { file: ready, repeated: true },
    });
    expect(receiveContent(ready, { sizeBytes: 3, sha256: 'bbb' })).toEqual({
      ok: false,
      code: 'file_already_uploaded',
    });
  });
});

test('the bytes of two uploads of one file never share a key, and both have its prefix', () => {
  const keys = [blobKey(pending, 'aaa'), blobKey(pending, 'bbb')];
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key.startsWith(blobPrefix(pending))).toBe(true);
  expect(blobPrefix(pending).startsWith('ten_1/')).toBe(true);
});
