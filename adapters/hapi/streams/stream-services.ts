/** What routes share for files, uploads and event streams. */
import type { LeastRate } from '../body/paced-body.js';
import type { StreamPlaces } from '../limits/stream-places.js';
import type { EventStreams } from './event-streams.js';
import type { PieceBuffers } from './piece-buffers.js';

export interface StreamServices {
  /** All of them together; callers without a credential have a part of the places, and each address a part of that. */
  places: StreamPlaces;
  events: EventStreams;
  buffers: PieceBuffers;
  /** A download is cut when nothing moved for so long. */
  stallMs: number;
  uploadRate: LeastRate;
}
