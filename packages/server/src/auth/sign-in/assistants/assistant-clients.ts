import { randomBytes } from 'node:crypto';
import type { Adapter, AdapterPayload, ClientMetadata } from 'oidc-provider';
import type { Services } from '../../../app/services.ts';
import type { ClientDocuments } from '../../../ports/sign-in/client-documents.ts';
import type { RateLimit } from '../../../ports/rate-limit.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import { networkOf } from '../../../runtime/network-of.ts';
import { isDocumentId, metadataInDocument, metadataInRegistration } from './client-metadata.ts';

/**
 * Assistants, which are clients of others (D-951). Their ids are addresses of documents, or were given at a
 * registration.
 */
export interface AssistantClients {
  /**
   * Reads what the client says now, for a person who is about to be asked. `address` is who caused it. Undefined for
   * every kind of failure.
   */
  current(id: string, address: string): Promise<ClientMetadata | undefined>;
  /**
   * What the client said when a person agreed, for redeeming and renewing: no stranger makes the server read a
   * document.
   */
  agreed(id: string): Promise<ClientMetadata | undefined>;
  /** Keeps the client for as long as what the person agreed to. */
  agree(id: string, address: string): Promise<void>;
  /** Undefined where the description is refused; `full` when there are too many. */
  register(text: string): Promise<ClientMetadata | 'full' | undefined>;
}

export interface AssistantClientParts extends Pick<Services, 'store' | 'clock'> {
  readonly documents: ClientDocuments;
  /** Documents that the requests of one network make the server read. */
  readonly documentRate: RateLimit;
  /** Stores the clients that persons have agreed to. */
  readonly agreedClients: Adapter;
  /** Stores the clients that have registered, under the library's name for them. */
  readonly registeredClients: Adapter;
}

/** A sign-in may take as long; after that, a change of the document counts. */
const keptMs = 10 * 60_000;
const keptMax = 500;
/** Registrations at the same time may pass it by their number, which their rate bounds. */
const registeredMax = 1_000;
const day = 24 * 3600;
const unusedSeconds = 30 * day;
/** As long as a grant. */
const agreedSeconds = 90 * day;
const idBytes = 16;
const registeredPrefix = 'assistant_';

export const isRegisteredId = (id: string): boolean => id.startsWith(registeredPrefix);

export function createAssistantClients(parts: AssistantClientParts): AssistantClients {
  const { store, clock, documents, agreedClients, registeredClients } = parts;
  const read = new BoundedMap<string, { readonly at: number; readonly metadata: ClientMetadata }>(
    keptMax,
  );
  const underWay = new Map<string, Promise<ClientMetadata | undefined>>();

  async function fetchDocument(id: string): Promise<ClientMetadata | undefined> {
    const text = await documents.read(id);
    const metadata = text === undefined ? undefined : metadataInDocument(id, text);
    if (metadata === undefined) read.delete(id);
    else read.set(id, { at: clock.now(), metadata });
    return metadata;
  }

  async function fetchOnce(id: string, address: string): Promise<ClientMetadata | undefined> {
    const known = read.get(id);
    if (known !== undefined && clock.now() - known.at < keptMs) return known.metadata;
    const begun = underWay.get(id);
    if (begun !== undefined) return begun;
    if (!parts.documentRate.take(networkOf(address)).ok) return undefined;
    const fetching = fetchDocument(id).finally(() => underWay.delete(id));
    underWay.set(id, fetching);
    return fetching;
  }

  const registered = async (id: string) => metadataIn(await registeredClients.find(id));

  return {
    async current(id, address) {
      if (isRegisteredId(id)) return registered(id);
      return isDocumentId(id) ? fetchOnce(id, address) : undefined;
    },
    async agreed(id) {
      if (isRegisteredId(id)) return registered(id);
      return isDocumentId(id) ? metadataIn(await agreedClients.find(id)) : undefined;
    },
    async agree(id, address) {
      const metadata = await this.current(id, address);
      if (metadata === undefined) return;
      const kept = isRegisteredId(id) ? registeredClients : agreedClients;
      await kept.upsert(id, { ...metadata }, agreedSeconds);
    },
    async register(text) {
      const id = registeredPrefix + randomBytes(idBytes).toString('base64url');
      const metadata = metadataInRegistration(id, text);
      if (metadata === undefined) return undefined;
      const count = await store.read.identityRecords.count('Client', clock.now());
      if (count >= registeredMax) return 'full';
      await registeredClients.upsert(id, { ...metadata }, unusedSeconds);
      return metadata;
    },
  };
}

function metadataIn(stored: AdapterPayload | undefined | void): ClientMetadata | undefined {
  return stored === undefined ? undefined : (stored as unknown as ClientMetadata);
}
