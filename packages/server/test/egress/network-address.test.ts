import { expect, test } from 'vitest';
import { addressKind } from '../../src/egress/network-address.ts';

test.each([
  ['93.184.216.34', 'public'],
  ['2606:2800:220:1::1', 'public'],
  ['10.1.2.3', 'organization'],
  ['172.31.255.255', 'organization'],
  ['192.168.0.1', 'organization'],
  ['100.64.0.1', 'organization'],
  ['fd00::1', 'organization'],
  ['127.0.0.1', 'never'],
  ['127.9.9.9', 'never'],
  ['0.0.0.0', 'never'],
  ['169.254.169.254', 'never'],
  ['224.0.0.1', 'never'],
  ['255.255.255.255', 'never'],
  ['::1', 'never'],
  ['::', 'never'],
  ['fe80::1', 'never'],
  ['ff02::1', 'never'],
  ['::ffff:127.0.0.1', 'never'],
  ['::ffff:93.184.216.34', 'never'],
  ['64:ff9b::7f00:1', 'never'],
  ['2002:7f00:1::', 'never'],
  ['localhost', 'never'],
])('%s is of the kind %s (SSRF)', (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});
