import type { MinimumRate } from '../body/paced-body.js';
import type { StreamSlots } from '../limits/stream-slots.js';
import type { EventStreams } from './event-streams.js';
import type { BufferPool } from './buffer-pool.js';

export interface StreamServices {
  places: StreamSlots;
  events: EventStreams;
  buffers: BufferPool;
  stallMs: number;
  uploadRate: MinimumRate;
}
