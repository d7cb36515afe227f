import { useComputed } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useEffect, useMemo } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import { type PageOf, PagedList } from '../data/pages.ts';
import type { Read, Resource } from '../data/resource.ts';
import { screenTitle } from '../page/title.ts';
import { resources } from './session.ts';
import type { TenantScope } from './tenant-clients.ts';

export const TenantContext = createContext<TenantScope | undefined>(undefined);

/** The tenant of the screen. */
export function useTenant(): TenantScope {
  const scope = useContext(TenantContext);
  if (scope === undefined) throw new Error('The screen stands outside a tenant.');
  return scope;
}

/** Whether the person may do this here. A control without the right is shown disabled, with the reason. */
export function useRight(scope: string): boolean {
  const tenant = useTenant();
  return useComputed(() => tenant.scopes.value.includes(scope)).value;
}

/** Reads a record or a page; the key names it in the cache, so two screens share one answer. */
export function useResource<T>(key: string, read: Read<T>): Resource<T> {
  const resource = useMemo(() => resources.get(key, read), [key]);
  useEffect(() => {
    // A screen that is opened again shows the old answer and reads a new one.
    if (resource.data.peek() !== undefined) inBackground(resource.refresh());
  }, [resource]);
  return resource;
}

/** A list by pages, read again whenever its filters change. */
export function usePages<T extends object>(
  filters: readonly unknown[],
  read: (cursor: string | undefined) => Promise<PageOf<T>>,
  idOf: (row: T) => string,
): PagedList<T> {
  const list = useMemo(() => new PagedList(read, idOf), filters);
  useEffect(() => inBackground(list.refresh()), [list]);
  return list;
}

/** Keeps the title of the document in step with the screen. */
export function useTitle(title: string): void {
  useEffect(() => {
    screenTitle.value = title;
  }, [title]);
}
