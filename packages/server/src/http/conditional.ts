/** RFC 9110 section 13.1.2: whether the client already has this content, by the weak comparison. */
export function hasContent(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

/**
 * RFC 9110 section 13.1.5: a range is of the content that the client knows. A date never matches, because none is sent.
 */
export function isRangeOf(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}
