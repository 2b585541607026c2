/** What the health plugin offers the others: whether there is room for what intakes write (contract 00, limits). */
import { token } from '../token.js';

export interface StorageSpace {
  /** Less is free than `health.min_free_bytes`; as of a second ago, so that no report waits for the disk. */
  short(): boolean;
}

export const STORAGE_SPACE = token<StorageSpace>('health.space');
