/**
 * The next times of a cron expression, as text in its zone. The server reads expressions with the same library; here it
 * is a chunk that loads with the form (D-334). Throws where the expression or the zone is not valid.
 */
export async function nextTimes(cron: string, zone: string, count: number): Promise<string[]> {
  const { Cron } = await import('croner');
  const times = new Cron(cron, { timezone: zone, mode: '5-part', paused: true }).nextRuns(count);
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  return times.map((time) => format.format(time));
}

export function cronProblem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^Cron(Pattern|Date)?: /, '');
}
