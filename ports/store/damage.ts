/** Null `id`: unknown document; null `collection`: the whole store. */
export interface DamageLocation {
  collection: string | null;
  id: string | null;
}

/** Damage encountered by a read or write. */
export interface CorruptDocument {
  place: DamageLocation;
  /** Last occurrence, RFC 3339. */
  at: string;
}

/** Stored data is unreadable. HTTP 500; unaffected calls succeed. */
export class StoreDamaged extends Error {
  override name = 'StoreDamaged';
  constructor(
    readonly place: DamageLocation,
    options?: ErrorOptions,
  ) {
    const row = place.id === null ? 'a document' : `the document "${place.id}"`;
    const what = place.collection === null ? 'its file' : `${row} of ${place.collection}`;
    super(`the store is damaged: ${what} cannot be read; aos doctor --deep finds all damage`, options);
  }
}
