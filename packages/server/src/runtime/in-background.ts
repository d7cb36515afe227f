type Report = (error: unknown) => void;

const reports = new Set<Report>();

/**
 * Leaves work to itself. It is the only place where a promise is not awaited: an error that nothing handles would end
 * the process, so here it is reported and goes no further. Work whose failure means something handles it before.
 */
export function inBackground(work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => {
    for (const report of reports) report(error);
  });
}

/** Has such errors reported, until the returned function is called. */
export function onBackgroundError(report: Report): () => void {
  reports.add(report);
  return () => reports.delete(report);
}
