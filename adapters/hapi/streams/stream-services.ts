/** Services that routes share for files, uploads and event streams. */
import type { LeastRate } from '../body/paced-body.js';
import type { StreamPlaces } from '../limits/stream-places.js';
import type { EventStreams } from './event-streams.js';
import type { PieceBuffers } from './piece-buffers.js';

export interface StreamServices {
  /**
   * Places of all streams together; callers without a credential have a part of them, and each address a part of this
   * part.
   */
  places: StreamPlaces;
  events: EventStreams;
  buffers: PieceBuffers;
  /** A download is cut when nothing moved for this time. */
  stallMs: number;
  uploadRate: LeastRate;
}
