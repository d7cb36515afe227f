import { refuse } from '../app/refusal.ts';

/** Returns the offered media type that the client prefers (D-34), or refuses. */
export function chooseMedia<Media extends string>(
  accept: string | undefined,
  offered: readonly [Media, ...Media[]],
): Media {
  if (accept === undefined || accept.trim() === '') return offered[0];
  const wanted = accept
    .split(',')
    .map(readRange)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  for (const { media } of wanted) {
    if (media === '*/*') return offered[0];
    const found = offered.find((offer) => offer === media || `${offer.split('/')[0]}/*` === media);
    if (found !== undefined) return found;
  }
  return refuse('not_acceptable', { message: `Accept must be one of ${offered.join(', ')}.` });
}

/** Returns a Content-Type without its parameters. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function readRange(text: string): { media: string; quality: number } {
  const [media = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { media, quality: Number.isNaN(value) ? 0 : value };
}
