import { allGuides } from './guides.ts';
import { withLinks } from './markdown-links.ts';

/** The group of the guides about using the service, which an assistant looks for in a project. */
const packagedGroup = 'Use it';

/** The guides that packages contain, so that a coding agent finds them in `node_modules`: Markdown by file name. */
export function packagedGuides(): ReadonlyMap<string, string> {
  const guides = allGuides().filter(({ group }) => group === packagedGroup);
  const names = new Map(guides.map(({ path, name }) => [path, name]));
  const resolve = (target: string) => {
    if (/^https?:|^#/.test(target)) return target;
    const [, path = '', anchor = ''] = /(docs[^.]*)\.md(#.*)?$/.exec(target) ?? [];
    const name = names.get(path);
    return name === undefined ? undefined : name + anchor;
  };
  return new Map(guides.map(({ name, markdown }) => [`${name}.md`, withLinks(markdown, resolve)]));
}
