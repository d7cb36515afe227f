/** The key under which thumbs are stored: 1 is up, -1 is down. */
export const ratingKey = 'rating';

/** A filter of a list of runs by what their thumbs say. */
export const ratings = [
  { value: '', label: 'Any rating' },
  { value: 'down', label: 'Rated down' },
  { value: 'up', label: 'Rated up' },
] as const;

interface RatingQuery {
  readonly feedback: string;
  readonly score_min?: number;
  readonly score_max?: number;
}

/** A rating of 0 is neither up nor down. */
const leastScore = 0.000_001;

/** The query of such a filter; undefined for one that is not known. */
export function ratingQuery(rating: string | undefined): RatingQuery | undefined {
  if (rating === 'down') return { feedback: ratingKey, score_max: -leastScore };
  return rating === 'up' ? { feedback: ratingKey, score_min: leastScore } : undefined;
}
