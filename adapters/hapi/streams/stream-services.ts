import type { LeastRate } from '../body/paced-body.js';
import type { StreamPlaces } from '../limits/stream-places.js';
import type { EventStreams } from './event-streams.js';
import type { PieceBuffers } from './piece-buffers.js';

export interface StreamServices {
  /** Slots of all streams; anonymous callers share a part, and each address a part of that. */
  places: StreamPlaces;
  events: EventStreams;
  buffers: PieceBuffers;
  stallMs: number;
  uploadRate: LeastRate;
}
