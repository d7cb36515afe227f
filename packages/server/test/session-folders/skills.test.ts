import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/domain/agent.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { agentOf, recordingLog, temporaryFolder, writeFiles } from '../support/agent-folders.ts';

const skill = (name: string, description = `does ${name}`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nText.\n`;

async function setUp(files: Record<string, string>, parts: Partial<Agent> = {}) {
  const [folder, dataDir] = [await temporaryFolder(), await temporaryFolder()];
  await writeFiles(folder, files);
  const sessionFolders = openSessionFolders({ dataDir, log: recordingLog() });
  const prepare = async (changed: Partial<Agent> = {}) => {
    const prepared = await sessionFolders.prepare({
      tenantId: tenantId('ten_1'),
      sessionId: sessionId('sess_1'),
      agent: agentOf({ folder, ...parts, ...changed }),
      expected: false,
      files: [],
    });
    return prepared.found ? prepared.skills : undefined;
  };
  return { folder, sessionFolder: join(dataDir, 'workspaces/ten_1/sess_1'), prepare };
}

const reasonOf = async (files: Record<string, string>) => {
  const session = await setUp(files);
  return (await session.prepare())?.warnings.map(({ reason }) => reason).join('; ');
};

describe('skills', () => {
  test('are mirrored into both folders that runtimes read, and reported by name', async () => {
    const session = await setUp({
      'skills/one/SKILL.md': skill('one'),
      'skills/one/scripts/run.sh': 'run',
      'skills/two/SKILL.md': `\uFEFF---\r\nname: two\r\ndescription: "It: does"\r\nlicense: MIT\r\n---\r\nText`,
      'skills/README.md': 'a file among them is not a skill',
    });
    expect(await session.prepare()).toEqual({
      skills: [
        { name: 'one', description: 'does one', path: '.agents/skills/one' },
        { name: 'two', description: 'It: does', path: '.agents/skills/two' },
      ],
      warnings: [],
    });
    for (const mirror of ['.agents/skills', '.claude/skills']) {
      expect((await readdir(join(session.sessionFolder, mirror))).sort()).toEqual(['one', 'two']);
      expect(
        await readFile(join(session.sessionFolder, mirror, 'one/scripts/run.sh'), 'utf8'),
      ).toBe('run');
    }
  });

  test.each([
    [{ 'skills/x/README.md': '' }, 'SKILL.md is missing'],
    [
      { 'skills/x/SKILL.md': 'name: x' },
      'must begin with name and description between two lines of "---"',
    ],
    [{ 'skills/x/SKILL.md': '---\nname: x\n' }, 'must begin with name and description'],
    [{ 'skills/x/SKILL.md': 'text\n---\nname: x\n---\n' }, 'must begin with name and description'],
    [{ 'skills/x/SKILL.md': '---\nname: [x\n---\n' }, 'SKILL.md:'],
    [
      { 'skills/x/SKILL.md': '---\nname: x\nname: x\n---\n' },
      'SKILL.md:3: Map keys must be unique',
    ],
    [{ 'skills/x/SKILL.md': '---\n- x\n---\n' }, 'must name name and description at its top'],
    [{ 'skills/x/SKILL.md': '---\nname: &a x\ndescription: *a\n---\n' }, 'must not use aliases'],
    [
      { 'skills/x/SKILL.md': skill('y') },
      'name in SKILL.md must be the name of its directory, "x"',
    ],
    [
      { 'skills/Bad_Name/SKILL.md': skill('Bad_Name') },
      'the name of its directory must be 1 to 64',
    ],
    [
      { 'skills/x/SKILL.md': '---\nname: x\n---\n' },
      'description in SKILL.md is missing: say what',
    ],
    [{ 'skills/x/SKILL.md': skill('x', '7') }, 'description in SKILL.md is missing'],
    [
      { 'skills/x/SKILL.md': skill('x', 'd'.repeat(1025)) },
      'has 1025 characters: at most 1024 fit',
    ],
    [{ 'skills/x/SKILL.md': 'x'.repeat(262_145) }, 'is larger than 262144 bytes'],
  ])('that break a rule become a warning that names the rule: %#', async (files, reason) => {
    expect(await reasonOf(files)).toContain(reason);
  });

  test('that are invalid are not copied and do not affect the others', async () => {
    const session = await setUp({
      'skills/good/SKILL.md': skill('good'),
      'skills/bad/SKILL.md': 'no',
    });
    await symlink('good', join(session.folder, 'skills/linked'));
    expect(await session.prepare()).toMatchObject({
      skills: [{ name: 'good' }],
      warnings: [
        { directory: 'skills/bad' },
        { directory: 'skills/linked', reason: 'is a link: put the skill itself here' },
      ],
    });
    expect(await readdir(join(session.sessionFolder, '.agents/skills'))).toEqual(['good']);
  });

  test('are all, none or those that agent.yaml names', async () => {
    const files = { 'skills/one/SKILL.md': skill('one'), 'skills/two/SKILL.md': skill('two') };
    const session = await setUp(files);
    expect((await session.prepare({ skills: 'all' }))?.skills).toHaveLength(2);
    expect(await session.prepare({ skills: ['two', 'three'] })).toEqual({
      skills: [{ name: 'two', description: 'does two', path: '.agents/skills/two' }],
      warnings: [
        {
          directory: 'skills/three',
          reason: 'agent.yaml names this skill, but there is no such directory',
        },
      ],
    });
    expect(await readdir(join(session.sessionFolder, '.claude/skills'))).toEqual(['two']);
    expect(await session.prepare({ skills: 'none' })).toBeUndefined();
    expect(await readdir(join(session.sessionFolder, '.claude/skills'))).toEqual([]);
  });

  test('are not reported when the agent has none', async () => {
    const session = await setUp({});
    expect(await session.prepare()).toBeUndefined();
    expect(await readdir(session.sessionFolder)).toEqual([]);
  });

  test('follow their source, and files removed from it are removed from the copies', async () => {
    const session = await setUp({
      'skills/one/SKILL.md': skill('one'),
      'skills/one/old/data.txt': 'old',
      'skills/two/SKILL.md': skill('two'),
    });
    await session.prepare();
    await rm(join(session.folder, 'skills/one/old'), { recursive: true });
    await rm(join(session.folder, 'skills/two'), { recursive: true });
    await writeFiles(session.folder, { 'skills/one/SKILL.md': skill('one', 'changed') });
    expect((await session.prepare())?.skills).toMatchObject([{ description: 'changed' }]);
    for (const mirror of ['.agents/skills', '.claude/skills']) {
      expect(await readdir(join(session.sessionFolder, mirror))).toEqual(['one']);
      expect(await readdir(join(session.sessionFolder, mirror, 'one'))).toEqual(['SKILL.md']);
    }
  });

  test('are never written through links that the agent planted', async () => {
    const session = await setUp({ 'skills/one/SKILL.md': skill('one') });
    const outside = await temporaryFolder();
    await mkdir(session.sessionFolder, { recursive: true });
    await symlink(outside, join(session.sessionFolder, '.agents'));
    await mkdir(join(session.sessionFolder, '.claude'));
    await symlink(outside, join(session.sessionFolder, '.claude/skills'));
    await session.prepare();
    expect(await readdir(outside)).toEqual([]);
    expect((await stat(join(session.sessionFolder, '.claude/skills/one/SKILL.md'))).isFile()).toBe(
      true,
    );

    await writeFile(join(outside, 'SKILL.md'), 'untouched');
    await mkdir(join(session.sessionFolder, '.agents/skills/two/SKILL.md/deep'), {
      recursive: true,
    });
    await rm(join(session.sessionFolder, '.agents/skills/one'), { recursive: true });
    await symlink(outside, join(session.sessionFolder, '.agents/skills/one'));
    await rm(join(session.folder, 'skills/one'), { recursive: true });
    await writeFiles(session.folder, { 'skills/two/SKILL.md': skill('two') });
    await session.prepare();
    expect(await readFile(join(outside, 'SKILL.md'), 'utf8')).toBe('untouched');
    expect((await stat(join(session.sessionFolder, '.agents/skills/two/SKILL.md'))).isFile()).toBe(
      true,
    );
  });
});
