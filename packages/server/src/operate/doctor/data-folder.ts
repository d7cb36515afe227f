import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { type MasterKeyFile, loadMasterKey } from '../../auth/master-key.ts';
import { othersMask } from '../../runtime/private-files.ts';
import { type Finding, failed, fine, messageOf, warned } from './finding.ts';

export async function examineDataFolder(path: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    return warned(
      'data folder',
      `${path} does not exist`,
      'the first start of the server creates it',
    );
  }
  if (!found.isDirectory()) {
    return failed('data folder', `${path} is not a folder`, 'set CONVOKE_DATA_DIR to a folder');
  }
  const mode = found.mode & 0o777;
  if ((mode & othersMask) !== 0) {
    const text = `${path} can be accessed by other users (mode ${mode.toString(8)})`;
    return warned('data folder', text, `run: chmod 700 ${path}`);
  }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return fine('data folder', path);
  } catch (error) {
    return failed('data folder', messageOf(error), 'run Convoke as the owner of this folder');
  }
}

export async function examineMasterKey(file: MasterKeyFile): Promise<Finding> {
  const { path } = file;
  if (!existsSync(path) && !file.isGiven) {
    return warned(
      'master key',
      `${path} does not exist`,
      'the first start of the server creates it',
    );
  }
  try {
    await loadMasterKey(file);
    return fine('master key', `${path}, readable by its owner only`);
  } catch (error) {
    return failed(
      'master key',
      messageOf(error),
      `restore it from a backup if it is damaged; make it private: chmod 600 ${path}`,
    );
  }
}
