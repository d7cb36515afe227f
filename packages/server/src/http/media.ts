import { refuse } from '../app/refusal.ts';

/** Returns the offered media type that the client prefers (D-34), the first of equals, or refuses. */
export function chooseMedia<Media extends string>(
  accept: string | undefined,
  offered: readonly [Media, ...Media[]],
): Media {
  if (accept === undefined || accept.trim() === '') return offered[0];
  // What most clients send: one type, without parameters.
  const only = offered.find((offer) => offer === accept);
  if (only !== undefined) return only;
  const ranges = accept.split(',').map(readRange);
  let chosen: { readonly offer: Media; readonly quality: number } | undefined;
  for (const offer of offered) {
    const quality = qualityOf(offer, ranges);
    if (quality > (chosen?.quality ?? 0)) chosen = { offer, quality };
  }
  if (chosen !== undefined) return chosen.offer;
  return refuse('not_acceptable', { message: `Accept must be one of ${offered.join(', ')}.` });
}

/**
 * RFC 9110 section 12.5.1: the most specific range that includes the type gives its quality; the order says nothing.
 */
function qualityOf(offer: string, ranges: readonly MediaRange[]): number {
  for (const name of [offer, `${offer.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find(({ media }) => media === name);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/** Returns a Content-Type without its parameters. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

interface MediaRange {
  readonly media: string;
  readonly quality: number;
}

function readRange(text: string): MediaRange {
  const [media = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { media, quality: Number.isNaN(value) ? 0 : value };
}
