import { fileId, organizationId, sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { completeFile, openFile, receiveContent } from '../../src/domain/file.ts';

const identity = {
  id: fileId('file_1'),
  organizationId: organizationId('org_1'),
  tenantId: tenantId('ten_1'),
  sessionId: sessionId('sess_1'),
  name: 'a.txt',
  contentType: 'text/plain',
};
const pending = openFile({ ...identity, declared: {} }, 1);
const content = { sizeBytes: 3, sha256: 'aaa' };
const ready = completeFile(pending, content);

describe('bytes that arrive (D-41)', () => {
  test.each([
    ['nothing', {}],
    ['the size', { sizeBytes: 3 }],
    ['the digest', { sha256: 'aaa' }],
    ['both', content],
  ])('that match what was declared (%s) make the file ready', (_, declared) => {
    expect(receiveContent(openFile({ ...identity, declared }, 1), content)).toEqual({
      ok: true,
      value: { file: ready, repeated: false },
    });
  });

  test.each([
    ['size', { sizeBytes: 4 }],
    ['digest', { sha256: 'bbb' }],
  ])('of another %s are refused, and the message names both', (_, declared) => {
    expect(receiveContent(openFile({ ...identity, declared }, 1), content)).toMatchObject({
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
