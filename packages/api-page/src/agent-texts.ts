import type { OpenApiDocument } from '@convoke/contract';
import type { Guide } from './guides/guides.ts';
import type { ReferencePage } from './reference.ts';

type ListedPages = {
  readonly info: OpenApiDocument['info'];
  readonly guides: readonly Guide[];
  readonly pages: readonly ReferencePage[];
};

/**
 * The list of all pages as `llms.txt` has it: a sentence about the service, and each page with its Markdown address.
 */
export function listForAgents({ info, guides, pages }: ListedPages): string {
  const groups = Map.groupBy(guides, ({ group }) => group);
  const ofGuides = Array.from(groups, ([title, members]) => {
    const lines = members.map((guide) => `- [${guide.title}](${guide.path}.md): ${guide.about}`);
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  const ofReference = pages.map(
    ({ name, title, items }) =>
      `- [${title}](docs/reference/${name}.md): ${items.length} ${items.length === 1 ? 'entry' : 'entries'}`,
  );
  const reference = `## API reference\n\n${[...ofReference, '- [OpenAPI document](openapi.json)'].join('\n')}`;
  const whole = 'All pages in one text: [llms-full.txt](llms-full.txt)';
  const parts = [`# ${info.title}`, `> ${info.summary}`, info.description, whole];
  return `${[...parts, ...ofGuides, reference].join('\n\n')}\n`;
}

/** Every page in one text, each below a line with its address. */
export function textForAgents({ guides, pages }: ListedPages): string {
  const texts = [
    ...guides.map(({ path, markdown }) => ({ path, text: markdown })),
    ...pages.map(({ name, markdown }) => ({ path: `docs/reference/${name}`, text: markdown() })),
  ];
  return texts.map(({ path, text }) => `<!-- ${path}.md -->\n\n${text.trim()}\n`).join('\n');
}
