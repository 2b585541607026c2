import type { MinimumRate } from '../body/paced-body.js';
import type { StreamSlots } from '../limits/stream-slots.js';
import type { EventStreams } from './event-streams.js';
import type { BufferPool } from './buffer-pool.js';

export interface StreamServices {
  /** Slots of all streams; anonymous callers share a part, and each address a part of that. */
  places: StreamSlots;
  events: EventStreams;
  buffers: BufferPool;
  stallMs: number;
  uploadRate: MinimumRate;
}
