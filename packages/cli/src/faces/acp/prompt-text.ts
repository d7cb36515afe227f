import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';

/** Renders a prompt as one text: embedded files stand where the person mentioned them (D-214). */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(textOf).join('').trim();
  if (text === '') throw RequestError.invalidParams({}, 'the prompt has no text');
  return text;
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}](${block.uri})`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `\n<file uri="${resource.uri}">\n${resource.text}\n</file>\n`;
      throw unsupported(`the file ${resource.uri}, which is not text`);
    }
    case 'image':
    case 'audio':
      throw unsupported(block.type);
  }
}

function unsupported(what: string): RequestError {
  return RequestError.invalidParams({}, `this agent cannot be given ${what}`);
}
