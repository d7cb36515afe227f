// A folder that a test removes may still be written to: a program that was just killed is not gone yet, and a folder
// that is emptied while it writes is "not empty" a moment later. Removing it is then tried again, for two seconds at
// most.
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';

const patiently = { recursive: true, force: true, maxRetries: 6, retryDelay: 100 } as const;

export const removeFolder = (folder: string): Promise<void> => rm(folder, patiently);

export const removeFolderSync = (folder: string): void => rmSync(folder, patiently);
