/** What a damaged store says. */

/** Where a store is damaged. `id` null: a document that cannot be told. `collection` null: the store as a whole. */
export interface DamagedPlace {
  collection: string | null;
  id: string | null;
}

/** Damage that a read or a write has met. */
export interface MetDamage {
  place: DamagedPlace;
  /** The last time. RFC 3339. */
  at: string;
}

/** What is stored cannot be read. The HTTP adapter answers 500; calls that meet no damage are served. */
export class StoreDamaged extends Error {
  override name = 'StoreDamaged';
  constructor(
    readonly place: DamagedPlace,
    options?: ErrorOptions,
  ) {
    const row = place.id === null ? 'a document' : `the document "${place.id}"`;
    const what = place.collection === null ? 'its file' : `${row} of ${place.collection}`;
    super(`the store is damaged: ${what} cannot be read; aos doctor --deep finds all damage`, options);
  }
}
