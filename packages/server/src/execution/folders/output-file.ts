import { isFileName } from '@convoke/contract';
import type { File } from '../../domain/file.ts';

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/**
 * Name and type of the file that an output becomes. File names have no folders, so slashes of the path
 * become dashes. Undefined when that is not a valid file name.
 */
export function outputFile(path: string): Pick<File, 'name' | 'contentType'> | undefined {
  const name = path.replaceAll('/', '-');
  if (!isFileName(name)) return undefined;
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(contentTypes, ending) ? contentTypes[ending] : undefined;
  return { name, contentType: known ?? 'application/octet-stream' };
}
