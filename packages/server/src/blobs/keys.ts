// `<tenant>/<id>-<sha256>`. Nothing else becomes a path or the name of an object.
const keyPattern = /^[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9_-]{1,64}-[0-9a-f]{64}$/;
// The slash is required: `ten_1` alone would also match `ten_10`.
const prefixPattern = /^[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9_-]{0,129}$/;

export function checkKey(key: string): string {
  if (!keyPattern.test(key)) throw new Error('not a blob key');
  return key;
}

export function checkPrefix(prefix: string): string {
  if (!prefixPattern.test(prefix)) throw new Error('not a prefix of blob keys');
  return prefix;
}
