// Finds links between the repository's own pages that lead nowhere.
import { posix } from 'node:path';

/** A page's text by its path, or undefined where there is no such file. */
export type Pages = (path: string) => string | undefined;

/** The relative links of one Markdown page that do not resolve, one line each. */
export function brokenLinks(path: string, pages: Pages): string[] {
  const text = prose(pages(path) ?? '');
  const targets = [...text.matchAll(/\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\)/g)].map(
    (match) => match[1] ?? '',
  );
  return targets
    .filter((target) => !/^[a-z][a-z+.-]*:/.test(target))
    .filter((target) => !resolves(path, target, pages))
    .map((target) => `${path}: ${target}`);
}

function resolves(path: string, target: string, pages: Pages): boolean {
  const [place = '', anchor] = target.split('#', 2);
  const page = place === '' ? path : posix.join(posix.dirname(path), decodeURIComponent(place));
  const text = pages(page);
  if (text === undefined) return false;
  if (anchor === undefined || !page.endsWith('.md')) return true;
  return headings(text).includes(anchor);
}

/** The anchors a reader can jump to, made from the headings the way code hosts make them. */
function headings(text: string): string[] {
  return [...prose(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

function prose(text: string): string {
  return text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');
}
