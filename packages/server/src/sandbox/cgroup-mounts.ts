import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface MountedCgroups {
  /** Folders of the unified hierarchy (v2) that may hold new groups, the nearest first. */
  readonly unified: readonly string[];
  /** This process's own folder in the hierarchy of each controller (v1). */
  readonly memory: string | undefined;
  readonly pids: string | undefined;
}

/** Finds the control groups of this process. Empty where the system has none. */
export function mountedCgroups(): MountedCgroups {
  try {
    const own = ownGroups(readFileSync('/proc/self/cgroup', 'utf8'));
    const mounts = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
    const unified = mounts.find(({ kind }) => kind === 'cgroup2');
    return {
      unified: unified === undefined ? [] : candidatesIn(unified, own.get('') ?? '/'),
      memory: controllerPath('memory', own, mounts),
      pids: controllerPath('pids', own, mounts),
    };
  } catch {
    return { unified: [], memory: undefined, pids: undefined };
  }
}

/**
 * The own group, its parent and the top. The parent, because systemd's `DelegateSubgroup=` puts a service one level
 * below its delegated group; the top, because root may use it.
 */
function candidatesIn(mount: Mount, group: string): readonly string[] {
  const own = pathIn(mount, group);
  return own === mount.at ? [own] : [...new Set([own, dirname(own), mount.at])];
}

/** The group of this process by controller; the name of the unified hierarchy is empty. */
function ownGroups(text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    for (const controller of controllers?.split(',') ?? []) groups.set(controller, path.join(':'));
  }
  return groups;
}

interface Mount {
  readonly kind: 'cgroup' | 'cgroup2';
  readonly at: string;
  /** The group at the root of the mount. */
  readonly root: string;
  readonly controllers: readonly string[];
}

function cgroupMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line): Mount[] => {
    const [left = '', right = ''] = line.split(' - ');
    const [kind, , options = ''] = right.split(' ');
    const [, , , root, at] = left.split(' ');
    if ((kind !== 'cgroup' && kind !== 'cgroup2') || root === undefined || at === undefined) {
      return [];
    }
    return [{ kind, at, root, controllers: options.split(',') }];
  });
}

function controllerPath(
  controller: string,
  own: ReadonlyMap<string, string>,
  mounts: readonly Mount[],
): string | undefined {
  const group = own.get(controller);
  const mount = mounts.find(
    ({ kind, controllers }) => kind === 'cgroup' && controllers.includes(controller),
  );
  return group === undefined || mount === undefined ? undefined : pathIn(mount, group);
}

function pathIn({ at, root }: Mount, group: string): string {
  const below = root === '/' || !group.startsWith(root) ? group : group.slice(root.length);
  return join(at, below === '/' ? '' : below);
}
