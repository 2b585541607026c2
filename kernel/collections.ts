import type { Collection, Doc, DocumentStore, Transact } from '../ports/store/index.js';
import type { FullManifest } from './manifest.js';

export class NotInManifest extends Error {
  override name = 'NotInManifest';
  constructor(what: string, member: string) {
    super(`${what} is not in its manifest: declare it in \`${member}\``);
  }
}

/**
 * `collection('notes')` of the plugin `chat` is `chat_notes`.
 * @throws NotInManifest
 */
export function getPluginCollection(
  store: DocumentStore,
  { id, collections }: Pick<FullManifest, 'id' | 'collections'>,
): <T extends Doc>(name: string) => Collection<T> {
  const declared = new Set(collections.map(({ name }) => name));
  return <T extends Doc>(name: string) => {
    if (!declared.has(name)) throw new NotInManifest(`the collection "${name}"`, 'collections');
    return store.collection<T>(`${id}_${name}`);
  };
}

export function createPluginTransact(
  store: DocumentStore,
  { id, collections }: Pick<FullManifest, 'id' | 'collections'>,
): Transact | null {
  const { transact } = store;
  if (transact === null) return null;
  const declared = new Map(collections.map(({ name }) => [name, `${id}_${name}`]));
  return async (writes) =>
    transact(
      writes.map((write) => {
        const collection = declared.get(write.collection);
        if (collection === undefined) throw new NotInManifest(`the collection "${write.collection}"`, 'collections');
        return { ...write, collection };
      }),
    );
}
