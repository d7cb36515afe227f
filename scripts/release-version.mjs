// Versions and notes of a release: every package of the checkout has the same version, and CHANGELOG.md has its
// section.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const pattern = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/;
const unreleased = '## Unreleased';
/** The version of the Python client, which has no manifest. */
const pythonVersion = 'packages/python/src/convoke_sdk/_version.py';
const pythonLine = /^VERSION = "(.*)"$/m;

/** @typedef {Record<string, string>} Versions */
/** @typedef {{ name: string, version: string, dependencies?: Versions, devDependencies?: Versions }} Manifest */
/** @typedef {{ packages: Record<string, Manifest> }} Lock */

/**
 * Gives all packages the version, in their manifests, where they depend on each other and in the lock file, and turns
 * the unreleased part of the changelog into the section of this version.
 * @param {string} root
 * @param {string} version
 * @param {string} day
 */
export function setVersion(root, version, day) {
  if (!pattern.test(version)) throw new Error(`${version} is no version; 0.2.0 would be one`);
  const changelog = join(root, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  if (notesIn(text, 'Unreleased') === '') throw new Error('CHANGELOG.md has nothing unreleased');
  const manifests = manifestsOf(root);
  const names = new Set(manifests.map(({ manifest }) => manifest.name));
  for (const { path, manifest } of manifests) {
    writeJson(path, { ...manifest, ...at(manifest, names, version) });
  }
  const lockPath = join(root, 'package-lock.json');
  const lock = /** @type {Lock} */ (JSON.parse(readFileSync(lockPath, 'utf8')));
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (/^packages\/[^/]+$/.test(place)) Object.assign(entry, at(entry, names, version));
  }
  writeJson(lockPath, lock);
  const python = readFileSync(join(root, pythonVersion), 'utf8');
  writeFileSync(join(root, pythonVersion), python.replace(pythonLine, `VERSION = "${version}"`));
  const section = `${unreleased}\n\n## ${version} (${day})`;
  writeFileSync(changelog, text.replace(unreleased, section));
}

/**
 * What stands in the way of a release of this version, one line each.
 * @param {string} root
 * @param {string} version
 * @returns {string[]}
 */
export function releaseProblems(root, version) {
  const manifests = manifestsOf(root);
  const names = new Set(manifests.map(({ manifest }) => manifest.name));
  const problems = manifests.flatMap(({ manifest }) => {
    const expected = at(manifest, names, version);
    return Object.entries(expected).some(
      ([field, value]) => JSON.stringify(Reflect.get(manifest, field)) !== JSON.stringify(value),
    )
      ? [`${manifest.name} or a package it needs does not have the version ${version}`]
      : [];
  });
  const [, python] = pythonLine.exec(readFileSync(join(root, pythonVersion), 'utf8')) ?? [];
  if (python !== version) problems.push(`convoke-sdk does not have the version ${version}`);
  if (releaseNotes(root, version) === '') problems.push(`CHANGELOG.md says nothing of ${version}`);
  return problems;
}

/**
 * The section of the changelog; empty if there is none.
 * @param {string} root
 * @param {string} version
 */
export function releaseNotes(root, version) {
  return notesIn(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
}

/**
 * @param {string} changelog
 * @param {string} heading
 */
function notesIn(changelog, heading) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => /^\S+/.exec(each)?.[0] === heading);
  return section?.slice(section.indexOf('\n')).trim() ?? '';
}

/** @param {string} root */
function manifestsOf(root) {
  const paths = readdirSync(join(root, 'packages')).map((name) =>
    join(root, 'packages', name, 'package.json'),
  );
  // The Python kit has no version: it is part of the server's package.
  return paths.filter(existsSync).map((path) => {
    return { path, manifest: /** @type {Manifest} */ (JSON.parse(readFileSync(path, 'utf8'))) };
  });
}

/**
 * The fields of a package that name a version of ours, with this one.
 * @param {Manifest} manifest
 * @param {ReadonlySet<string>} ours
 * @param {string} version
 */
function at(manifest, ours, version) {
  /** @param {Versions} needed */
  const own = (needed) => {
    /** @type {Versions} */
    const changed = {};
    for (const name of Object.keys(needed))
      changed[name] = ours.has(name) ? version : (needed[name] ?? '');
    return changed;
  };
  const { dependencies, devDependencies } = manifest;
  return {
    version,
    ...(dependencies && { dependencies: own(dependencies) }),
    ...(devDependencies && { devDependencies: own(devDependencies) }),
  };
}

/**
 * @param {string} path
 * @param {unknown} value
 */
function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
